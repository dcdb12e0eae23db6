import { haveTheirEffectOnce } from './every-fault.ts';
import { TOLD_SCENARIOS } from './told-scenarios.ts';

/** What the provider tells of money that goes back, or came twice. */
haveTheirEffectOnce(TOLD_SCENARIOS);
