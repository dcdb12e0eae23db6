/** What a refund's status may be right after it was made. */
export type FirstRefundStatus = 'succeeded' | 'pending' | 'requires_action' | 'failed';

/** Says how the next refunds begin, in place of what their payment method would do. */
export interface RefundRule {
  readonly status: FirstRefundStatus;
  remaining: number;
}

/** Takes one use of the first rule that has any left; undefined if none has. */
export function takeRefundRule(rules: RefundRule[]): FirstRefundStatus | undefined {
  const rule = rules[0];
  if (rule === undefined) return undefined;
  rule.remaining -= 1;
  if (rule.remaining <= 0) rules.shift();
  return rule.status;
}
