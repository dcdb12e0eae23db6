import { haveTheirEffectOnce } from './every-fault.ts';
import { LEDGER_SCENARIOS } from './scenarios.ts';

/** Every operation of the ledger. */
haveTheirEffectOnce(LEDGER_SCENARIOS);
