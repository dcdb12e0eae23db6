import type { ProposalRef } from '../kernel/keys.ts';
import type { Decimal } from '../kernel/money.ts';

/** How long a second admin has to decide. */
export const PROPOSAL_LIFE_MS = 7 * 86_400_000;

export const STORED_PROPOSAL_STATES = ['OPEN', 'APPROVED', 'REJECTED'] as const;
type StoredProposalState = (typeof STORED_PROPOSAL_STATES)[number];
/** EXPIRED is written nowhere: it is what an OPEN proposal is from its `expiresAtMs` on. */
export type ProposalState = StoredProposalState | 'EXPIRED';

/** A balance to be adjusted by a signed amount. */
export interface ProposedAdjustment {
  readonly asset: string;
  readonly amount: Decimal;
}

/** Attributes of an item as DynamoDB's JSON, in the order of their names: what a write finds, and what it leaves. */
export interface ProposedWrite {
  /** The primary key of the item. */
  readonly uuid: string;
  readonly type: string;
  /** The attributes that change, as they are; those that aren't there yet are left out. */
  readonly before: string;
  /** The same attributes as they will be; those that go are left out. */
  readonly after: string;
  /** Digest of the whole item as it was read, by which any other change of it is seen. Empty: there was no item. */
  readonly read: string;
}

/** What an audit found, and the exact writes that mend it. */
export interface ProposedRepair {
  readonly findingId: string;
  /** What is off, in words. */
  readonly finding: string;
  readonly writes: readonly ProposedWrite[];
}

/** Who decided on a proposal, and what came of it. */
export interface ProposalDecision {
  /** The principal, such as `admin/ada`. */
  readonly by: string;
  readonly atMs: number;
  /** Why it was rejected. */
  readonly reason?: string;
  /** What an approved adjustment booked. */
  readonly entryId?: string;
  /** Of a repair, the transaction that made it: how a lost answer is recognised as our own commit. */
  readonly transactionId?: string;
}

/**
 * Something that one admin proposes and another admin decides on. It is kept for ever. It says either which adjustment
 * it is about or which repair.
 */
export interface Proposal extends ProposalRef {
  readonly state: StoredProposalState;
  readonly adjustment?: ProposedAdjustment;
  readonly repair?: ProposedRepair;
  readonly reason: string;
  /** The principal, such as `admin/ada`. */
  readonly proposer: string;
  readonly proposedAtMs: number;
  readonly expiresAtMs: number;
  readonly decision?: ProposalDecision;
}

export function proposalState({ state, expiresAtMs }: Proposal, nowMs: number): ProposalState {
  return state === 'OPEN' && nowMs >= expiresAtMs ? 'EXPIRED' : state;
}
