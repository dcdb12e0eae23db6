import type { Answer, Proof, ProvenClaim } from './proof.ts';

/** The proof for people, as text. */
export function printedAnswer({ question, held, claims, turnedRedBy }: Answer, place: number): string {
  const bugs = turnedRedBy.length === 0 ? [] : [`   turns red under: ${turnedRedBy.join('; ')}`];
  return [
    '',
    `${String(place)}. ${question}   ${held ? 'HELD' : 'NOT HELD'}`,
    ...bugs,
    ...claims.map(printedClaim),
  ].join('\n');
}

function printedClaim(claim: ProvenClaim): string {
  const { rules, tests, testFiles, plantedBugs } = claim;
  const seen = claim.checks.map(({ what, expected, found, held }) =>
    held ? `${what}: ${found}` : `✗ ${what}: ${found}, not ${expected}`,
  );
  const rows: readonly (readonly [label: string, text: string])[] = [
    ...(claim.broke === undefined ? [] : [['broke', claim.broke] as const]),
    ...(claim.done === '' ? [] : [['tried', claim.done] as const]),
    ...seen.map((text, index) => [index === 0 ? 'seen' : '', text] as const),
    ...rules.map(
      ({ symbol, file, line }, index) =>
        [index === 0 ? 'rule' : '', `${file}:${String(line)} ${symbol}`] as const,
    ),
    [
      'held by',
      `${counted(tests, 'test')} in ${counted(testFiles, 'file')}, ${counted(plantedBugs, 'planted bug')}`,
    ],
  ];
  return [
    '',
    `   ${claim.held ? '✓' : '✗'} ${claim.claim}`,
    `     [${claim.id}, ${seconds(claim.tookMs)}]`,
    ...rows.map(([label, text]) => `     ${label.padEnd(8)} ${text}`),
  ].join('\n');
}

export function printedVerdict({ questions, tookMs, seed, extent }: Proof): string {
  const claims = questions.flatMap((answer) => answer.claims);
  const held = claims.filter((claim) => claim.held).length;
  const failed = questions.filter((answer) => !answer.held).map(({ id }) => id);
  const how = `${seconds(tookMs)}, seed ${String(seed)}${extent === 'short' ? ', short form' : ''}`;
  const verdict =
    failed.length === 0
      ? `All ${counted(questions.length, 'answer')} held`
      : `NOT held: ${failed.join(', ')}`;
  return `\n${verdict}: ${String(held)} of ${counted(claims.length, 'claim')} (${how}).\n`;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

function counted(count: number, what: string): string {
  return `${String(count)} ${what}${count === 1 ? '' : 's'}`;
}
