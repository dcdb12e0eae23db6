import { haveTheirEffectOnce } from './every-fault.ts';
import { TOLD_SCENARIOS } from './provider-update-scenarios.ts';

/** What the provider tells of money that goes back, or came twice. */
haveTheirEffectOnce(TOLD_SCENARIOS);
