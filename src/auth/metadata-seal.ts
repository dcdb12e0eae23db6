import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** Metadata as the provider keeps it: texts by their names. */
export type MetadataTexts = Readonly<Record<string, string>>;

/**
 * Seals what we write into the provider's metadata, and tells whether it still is as we wrote it. Whoever may edit metadata
 * at the provider must not be able to mint credit by it (docs/DESIGN.md §8, "Metadata").
 */
export interface MetadataSeal {
  /** The same texts with the id of the key and a HMAC over all of them. */
  readonly seal: (texts: MetadataTexts) => MetadataTexts;
  readonly isSealed: (texts: MetadataTexts) => boolean;
}

/** The names under which a seal stands. */
const KEY_ID = 'h_kid';
const MAC = 'h_mac';

/**
 * @param secrets the first seals; any may have sealed what is checked, so that a secret can be rotated
 */
export function createMetadataSeal(secrets: readonly string[]): MetadataSeal {
  const keys = secrets.map((secret) => ({ id: keyIdOf(secret), secret }));
  const [current] = keys;
  if (current === undefined) throw new RangeError('metadata needs a secret to be sealed with');
  return {
    seal: (texts) => {
      const named = { ...texts, [KEY_ID]: current.id };
      return { ...named, [MAC]: macOf(current.secret, named) };
    },
    isSealed: ({ [MAC]: mac, ...texts }) => {
      const key = keys.find(({ id }) => id === texts[KEY_ID]);
      return key !== undefined && mac !== undefined && isSame(mac, macOf(key.secret, texts));
    },
  };
}

/** Names a key without telling anything of it. */
function keyIdOf(secret: string): string {
  return createHash('sha256').update(`metadata key id\n${secret}`).digest('hex').slice(0, 12);
}

/** Over names and values, in an order of its own: the provider keeps none. */
function macOf(secret: string, texts: MetadataTexts): string {
  const sorted = Object.entries(texts).sort(([one], [other]) => (one < other ? -1 : 1));
  return createHmac('sha256', secret)
    .update(`metadata\n${JSON.stringify(sorted)}`)
    .digest('base64url');
}

function isSame(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
