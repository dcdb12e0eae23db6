import type {
  ProviderPage,
  ProviderPageRequest,
  PaymentProvider,
  ProviderPayment,
  ProviderRefund,
  ProviderResult,
} from '../../../provider/port.ts';
import { defined } from '../../kernel/defined.ts';

const PAGE_SIZE = 100;

/**
 * Reads a list of the provider's page by page, newest first. A page that couldn't be read is the last to be given.
 * @param createdFromS only what was made since, in seconds; undefined for all
 */
export async function* providerPages<Item>(
  list: (request: ProviderPageRequest) => Promise<ProviderResult<ProviderPage<Item>>>,
  idOf: (item: Item) => string,
  createdFromS?: number,
): AsyncGenerator<ProviderResult<ProviderPage<Item>>, void, undefined> {
  let after: string | undefined;
  do {
    const page = await list({ limit: PAGE_SIZE, ...defined({ createdFromS, after }) });
    if (page.kind !== 'DONE') {
      yield page;
      return;
    }
    const { items } = page.value;
    const last = items.at(-1);
    const hasMore = page.value.hasMore && last !== undefined;
    yield { kind: 'DONE', value: { items, hasMore } };
    after = hasMore ? idOf(last) : undefined;
  } while (after !== undefined);
}

/** The payments made since a time. */
export function paymentPages(
  provider: Pick<PaymentProvider, 'listPayments'>,
  createdFromS: number,
): AsyncGenerator<ProviderResult<ProviderPage<ProviderPayment>>, void, undefined> {
  return providerPages(provider.listPayments, ({ paymentId }) => paymentId, createdFromS);
}

/** The refunds of one payment. */
export function refundPages(
  provider: Pick<PaymentProvider, 'listRefunds'>,
  paymentId: string,
): AsyncGenerator<ProviderResult<ProviderPage<ProviderRefund>>, void, undefined> {
  return providerPages(
    (request) => provider.listRefunds({ ...request, paymentId }),
    ({ providerRefundId }) => providerRefundId,
  );
}
