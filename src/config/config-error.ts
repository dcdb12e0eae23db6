/**
 * What stops start-up: the environment or the tenants' file holds something that the gateway can't run with.
 * The message is one sentence per problem, each on a line of its own. It names what is wrong and what is wanted, and
 * never repeats a value, which may be a secret.
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}
