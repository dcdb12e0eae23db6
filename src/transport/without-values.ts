/**
 * GraphQL's own messages without the values that they quote: a client may have put an email, a phone number or a token
 * where it doesn't belong, and no error repeats one (docs/DESIGN.md I6). What stays names types, fields and places.
 * Greedy on purpose: of a value that itself looks like the end of a message, all goes. Twice is the same as once.
 */
const QUOTED: readonly (readonly [RegExp, string])[] = [
  // Variable "$i" got invalid value {…} at "i.email"; Field "x" is not defined by type "T".
  [/^(Variable "\$\w+") got invalid value [^]*( at "[\w.[\]]+"); /, '$1 is invalid$2: '],
  [/^(Variable "\$\w+") got invalid value [^]*; /, '$1 is invalid: '],
  // … Expected value of type "T", found 12; Decimal takes …
  [/, found [^]*?(; \w+ takes |\.?$)/, '$1'],
  // String cannot represent a non string value: 12
  [/(cannot represent [^:.]*)(?:: [^]*?|\.)?( Did you mean [^]*)?$/, '$1.$2'],
  [/Value "[^]*" does not exist in "(\w+)" enum/, 'Such a value does not exist in "$1" enum'],
  // A key of the client's that is no name at all.
  [/Field "(?!\w+(\.\w+)?")[^]*" is not defined/, 'A field is not defined'],
  // Syntax Error: Unexpected String "…"; Expected Name, found Name "…".
  [/(Unexpected (?:Name|Int|Float|String|BlockString)) "[^]*"/, '$1'],
  [/Invalid Unicode escape sequence: "[^]*"/, 'Invalid Unicode escape sequence'],
];

export function withoutValues(message: string): string {
  return QUOTED.reduce((text, [quoted, without]) => text.replace(quoted, without), message);
}
