import { mayPerform } from '../../../auth/permissions.ts';
import type { Viewer } from '../../../auth/viewer.ts';
import { isId, isUlid } from '../../kernel/id-grammar.ts';
import { PREFIX, type ProposalRef, partition, proposalKey } from '../../kernel/keys.ts';
import { proposalList, readProposal } from '../../items/proposal-item.ts';
import { type Proposal, proposalState } from '../../model/proposal.ts';
import type { IndexEntry } from '../../table/store.ts';
import type { Ledger } from '../runtime/ledger.ts';
import {
  type Page,
  type PageRequest,
  decodeCursor,
  encodeCursor,
  pageReading,
  toPage,
} from '../runtime/pages.ts';
import { readItems } from '../runtime/read-items.ts';

/** Up to 100 proposals, in the order of `refs`; undefined where the viewer may not see them, or there is none. */
export async function readProposals(
  ledger: Ledger,
  viewer: Viewer,
  refs: readonly ProposalRef[],
): Promise<readonly (Proposal | undefined)[]> {
  const proposals = await readItems(ledger, refs.map(proposalKey), readProposal);
  return proposals.map((proposal) =>
    proposal?.tenant === viewer.tenant && mayPerform(viewer.role, 'READ_PROPOSALS') ? proposal : undefined,
  );
}

/**
 * The open proposals of the viewer's tenant, forward only: those that expire last come first, which are those that were
 * made last. What has expired or was decided on is left out. Throws PageRequestError.
 */
export async function listOpenProposals(
  ledger: Ledger,
  viewer: Viewer,
  request: Pick<PageRequest, 'first' | 'after'>,
): Promise<Page<Proposal>> {
  const reading = pageReading(request);
  const nowMs = ledger.clock.nowMs();
  const entries = await ledger.store.queryIndex({
    index: 'listed',
    hash: proposalList(viewer.tenant),
    limit: reading.size + 1,
    newestFirst: true,
    fromMs: nowMs,
    after: reading.cursor === undefined ? undefined : readCursor(viewer.tenant, reading.cursor),
  });
  const shown = entries.slice(0, reading.size);
  const found = await readProposals(ledger, viewer, shown.map(refOfEntry));
  return toPage(
    reading,
    entries.map((entry, index) => {
      const proposal = found[index];
      const { accountId, proposalId } = refOfEntry(entry);
      return {
        row: proposal !== undefined && proposalState(proposal, nowMs) === 'OPEN' ? proposal : undefined,
        cursor: encodeCursor(accountId, proposalId, String(entry.atMs)),
      };
    }),
  );
}

function refOfEntry({ uuid, type }: IndexEntry): ProposalRef {
  const [tenant = '', accountId = ''] = uuid.split('#');
  return { tenant, accountId, proposalId: type.slice(PREFIX.proposal.length) };
}

function readCursor(tenant: string, cursor: string): IndexEntry {
  const isInstant = (part: string): boolean => /^\d{1,15}$/.test(part);
  const [accountId = '', proposalId = '', at = ''] = decodeCursor(cursor, isId, isUlid, isInstant);
  return {
    uuid: partition(tenant, accountId),
    type: `${PREFIX.proposal}${proposalId}`,
    atMs: Number.parseInt(at, 10),
  };
}
