import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { renderTemplate } from './render.ts';

test('named and numbered placeholders take the value of their variable', () => {
  assert.deepEqual(renderTemplate('Hello {{name}}, order {{1}}', { name: 'Ada', 1: 'A-7' }), {
    text: 'Hello Ada, order A-7',
  });
});

test('a placeholder that stands twice is filled twice', () => {
  assert.deepEqual(renderTemplate('{{a}}{{a}}', { a: 'x' }), { text: 'xx' });
});

test('white space inside the braces does not matter', () => {
  assert.deepEqual(renderTemplate('{{ name }}|{{name\n}}|{{\tname}}', { name: 'Ada' }), {
    text: 'Ada|Ada|Ada',
  });
});

test('names may have dots, dashes, underscores and letters of any script', () => {
  assert.deepEqual(
    renderTemplate('{{order.id}} {{first-name}} {{_x}} {{größe}} {{名前}}', {
      'order.id': '1',
      'first-name': '2',
      _x: '3',
      größe: '4',
      名前: '5',
    }),
    { text: '1 2 3 4 5' },
  );
});

test('numbers and booleans become text, and zero, false and the empty string are values', () => {
  assert.deepEqual(
    renderTemplate('{{a}} {{b}} {{c}} {{d}}|{{e}}|', { a: 3, b: 0.5, c: 0, d: false, e: '' }),
    {
      text: '3 0.5 0 false||',
    },
  );
});

test('missing variables are named once each, in the order they stand', () => {
  assert.deepEqual(renderTemplate('{{b}} {{a}} {{b}} {{c}}', { c: 'here' }), { missing: ['b', 'a'] });
});

test('null, objects and lists are no text: their variable counts as missing', () => {
  assert.deepEqual(renderTemplate('{{a}}{{b}}{{c}}{{d}}', { a: null, b: {}, c: ['x'], d: undefined }), {
    missing: ['a', 'b', 'c', 'd'],
  });
});

test('variables that the body does not name are ignored', () => {
  assert.deepEqual(renderTemplate('plain', { other: 'x', deep: { a: 1 } }), { text: 'plain' });
});

test('what every object inherits is not a variable', () => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'];
  for (const name of names) assert.deepEqual(renderTemplate(`{{${name}}}`, {}), { missing: [name] });
});

test('a variable a client really calls __proto__ or constructor is one', () => {
  const variables: Record<string, unknown> = JSON.parse('{"__proto__": "a", "constructor": "b"}');
  assert.deepEqual(renderTemplate('{{__proto__}}{{constructor}}', variables), { text: 'ab' });
});

test('replacement patterns in a value are plain text', () => {
  const value = "$& $1 $$ $` $' $<name>";
  assert.deepEqual(renderTemplate('<{{a}}>', { a: value }), { text: `<${value}>` });
});

test('a placeholder inside a value is not filled', () => {
  assert.deepEqual(renderTemplate('{{a}} {{b}}', { a: '{{b}}', b: '{{a}}' }), { text: '{{b}} {{a}}' });
});

test('values cannot make a placeholder together with the text around them', () => {
  assert.deepEqual(renderTemplate('{{{a}}b}}', { a: '{', b: 'secret' }), { text: '{{b}}' });
});

test('braces that hold no name stay as they are', () => {
  for (const body of ['{{}}', '{{ }}', '{name}', '{{first name}}', '{{-x}}', '{{a', 'a}}', '{{"a"}}']) {
    assert.deepEqual(renderTemplate(body, {}), { text: body });
  }
});

test('a body of nothing but opening braces and blanks is read in one pass', () => {
  const started = performance.now();
  renderTemplate('{{ '.repeat(3_333), {});
  renderTemplate(`{{${' '.repeat(9_990)}`, {});
  assert.ok(performance.now() - started < 100);
});

const name = fc.oneof(
  fc.stringMatching(/^[a-zA-Z0-9_][\w.-]{0,10}$/),
  fc.constantFrom('__proto__', 'constructor'),
);
const literal = fc.string({ unit: 'grapheme' }).filter((text) => !/[{}]/.test(text));

test('any text between any placeholders comes through, with every value as it is', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(literal, name, fc.string({ unit: 'grapheme' }))),
      literal,
      (pieces, tail) => {
        const values = new Map(pieces.map(([, name, value]) => [name, value]));
        const body = pieces.map(([before, name]) => `${before}{{${name}}}`).join('') + tail;
        const expected = pieces.map(([before, name]) => before + values.get(name)).join('') + tail;
        assert.deepEqual(renderTemplate(body, Object.fromEntries(values)), { text: expected });
      },
    ),
  );
});

test('with no variables, exactly the names in the body are missing', () => {
  fc.assert(
    fc.property(fc.array(name, { minLength: 1 }), (names) => {
      const body = names.map((name) => `{{ ${name} }}`).join(' and ');
      assert.deepEqual(renderTemplate(body, {}), { missing: [...new Set(names)] });
    }),
  );
});

test('any body and any variables give a text or a list, never an error', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }),
      fc.dictionary(fc.string(), fc.anything()),
      (body, variables) => {
        const result = renderTemplate(body, variables);
        assert.ok('text' in result || result.missing.length > 0);
      },
    ),
  );
});
