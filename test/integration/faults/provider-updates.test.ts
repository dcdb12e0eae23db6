import { haveTheirEffectOnce } from './every-fault.ts';
import { PROVIDER_UPDATE_SCENARIOS } from './provider-update-scenarios.ts';

/** What the provider tells of money that goes back, or came twice. */
haveTheirEffectOnce(PROVIDER_UPDATE_SCENARIOS);
