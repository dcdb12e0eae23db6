import { haveTheirEffectOnce } from './every-fault.ts';
import { PROVIDER_SCENARIOS, STEP_SCENARIOS } from './provider-scenarios.ts';

/**
 * What calls the provider, is told by it, or follows up. The provider works: what it does to a claim when it doesn't is
 * told by the tests of each operation.
 */
haveTheirEffectOnce([...PROVIDER_SCENARIOS, ...STEP_SCENARIOS]);
