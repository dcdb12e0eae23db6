import { type Clock, epochS } from '../ledger/kernel/clock.ts';
import type { Order } from '../ledger/model/orders/order.ts';
import type { MetadataEntry } from '../ledger/model/orders/order-metadata.ts';
import type { Merchant, Tenants } from '../config/tenants.ts';
import { parseUrl } from '../config/urls.ts';
import type { FollowUp, StepContext, StepResult } from './follow-up.ts';
import { merchantPayload } from './merchant-payload.ts';
import { type PostLimits, type PostResult, post } from './post.ts';
import { signedHeaders } from './standard-webhooks.ts';

export const NOTIFY_MERCHANT = 'notify-merchant';

export interface NotifyMerchantOptions {
  readonly tenants: Tenants;
  readonly clock: Clock;
  readonly limits: PostLimits;
  readonly readMetadata: (order: Order) => Promise<readonly MetadataEntry[]>;
}

/** A merchant's server should answer soon: it should queue a message, not work on it. */
export const DEFAULT_POST_LIMITS: PostLimits = {
  connectTimeoutMs: 3_000,
  totalTimeoutMs: 10_000,
  allowPrivateAddresses: false,
};

/**
 * Notifies the merchant's server of its orders: paid, refunded, disputed (docs/FOLLOW-UPS.md). At least once: a delivery
 * whose answer was lost is repeated with the same `webhook-id`.
 */
export function notifyMerchant(options: NotifyMerchantOptions): FollowUp {
  return {
    name: NOTIFY_MERCHANT,
    appliesTo: ({ kind }, order) =>
      kind !== 'overpayment' && merchantOf(options.tenants, order)?.notifyUrl !== undefined,
    run: (context) => notify(options, context),
  };
}

async function notify(
  { tenants, clock, limits, readMetadata }: NotifyMerchantOptions,
  { order, refund, trigger, key, signal }: StepContext,
): Promise<StepResult> {
  const merchant = merchantOf(tenants, order);
  const url = parseUrl(merchant?.notifyUrl ?? '');
  if (merchant === undefined || url === undefined)
    return { kind: 'GIVE_UP', reason: 'the merchant has no notifyUrl any more' };
  const body = JSON.stringify(merchantPayload(order, trigger, await readMetadata(order), refund));
  const message = { id: `msg_${key.slice(0, 32)}`, timestampS: epochS(clock.nowMs()), body };
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Hitotsu',
    ...signedHeaders(message, merchant.notifySecrets),
  };
  return toStepResult(await post({ url, headers, body, signal }, limits));
}

function toStepResult(result: PostResult): StepResult {
  switch (result.kind) {
    case 'ANSWERED': {
      const { status } = result;
      if (status >= 200 && status < 300) return { kind: 'DONE' };
      const what = status >= 300 && status < 400 ? 'a redirect, which is not followed' : 'no success';
      return { kind: 'RETRY', reason: `HTTP ${status}: ${what}` };
    }
    case 'FORBIDDEN':
      return { kind: 'RETRY', reason: 'the address is not on the public internet' };
    case 'NO_ANSWER':
      return { kind: 'RETRY', reason: `no answer: ${result.reason}` };
  }
}

function merchantOf(tenants: Tenants, { tenant, merchantId }: Order): Merchant | undefined {
  return merchantId === undefined ? undefined : tenants.get(tenant)?.merchants.get(merchantId);
}
