import { haveTheirEffectOnce } from './every-fault.ts';
import { OPERATOR_SCENARIOS } from './operator-scenarios.ts';

/** What only an operator asks for. */
haveTheirEffectOnce(OPERATOR_SCENARIOS);
