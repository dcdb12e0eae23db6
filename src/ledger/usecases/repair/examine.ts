import { type AuditProblem, judgeAccount } from '../../audit/audit.ts';
import { findingId } from '../../audit/finding-kind.ts';
import { type Mended, mend } from '../../audit/menders.ts';
import { itemDigest } from '../../items/item-repair.ts';
import type { StoredItem } from '../../kernel/attributes.ts';
import type { AccountRef, ItemKey } from '../../kernel/keys.ts';
import type { Store } from '../../table/store.ts';
import { readAtRest } from '../audit/audit-account.ts';
import type { Ledger } from '../runtime/ledger.ts';

/** An account that moves during this many readings is left for later. */
const MAX_READINGS = 5;

/** All that is off in one account; undefined where it never held still. */
export async function auditAccount(
  store: Store,
  ref: AccountRef,
): Promise<readonly AuditProblem[] | undefined> {
  for (let readings = 0; readings < MAX_READINGS; readings += 1) {
    const account = await readAtRest(store, ref, undefined);
    if (account !== undefined) return judgeAccount(account);
  }
  return undefined;
}

/** A finding as it is now, with what mends it. */
export type Examined =
  | {
      readonly kind: 'FOUND';
      readonly problem: AuditProblem;
      readonly mended: Mended;
      readonly item: StoredItem | undefined;
    }
  /** Nothing of that id is off any more. */
  | { readonly kind: 'GONE' }
  | { readonly kind: 'MOVING' };

/** Reads the item that is off and all of its account as they were at one moment, and computes what mends it. */
export async function examine(
  { store, settings }: Pick<Ledger, 'store' | 'settings'>,
  ref: AccountRef,
  key: ItemKey,
  id: string,
): Promise<Examined> {
  for (let readings = 0; readings < MAX_READINGS; readings += 1) {
    const [before] = await store.get([key]);
    const account = await readAtRest(store, ref, undefined);
    const [item] = await store.get([key]);
    if (account === undefined || itemDigest(before) !== itemDigest(item)) continue;
    const problem = judgeAccount(account).find((one) => findingId(one) === id);
    if (problem === undefined) return { kind: 'GONE' };
    return { kind: 'FOUND', problem, item, mended: mend({ problem, account, item, policy: settings }) };
  }
  return { kind: 'MOVING' };
}
