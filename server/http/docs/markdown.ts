import { codeBlock } from './code.ts';
import { Html, html } from './html.ts';

/**
 * The Markdown that our descriptions use: paragraphs, lists, tables, fenced code; `code`, **strong** and links within
 * a line. Anything else is shown as it is written.
 */
export function markdown(text: string): Html[] {
  return text.split(/(^```\w*\n[^]*?\n```$)/m).flatMap((part) => {
    const [, code] = /^```\w*\n([^]*)\n```$/.exec(part) ?? [];
    if (code !== undefined) return [codeBlock(code)];
    const blocks = part.split(/\n{2,}/).map((block) => block.trim());
    return blocks.filter((block) => block !== '').map(blockOf);
  });
}

function blockOf(block: string): Html {
  const lines = block.split('\n');
  if (lines.every((line) => line.startsWith('|'))) return table(lines);
  if (lines[0]?.startsWith('- ')) {
    const items = block.slice(2).split('\n- ');
    return html`<ul>${items.map((item) => html`<li>${inline(item)}</li>`)}</ul>`;
  }
  return html`<p>${inline(block)}</p>`;
}

function table([head = '', , ...rows]: string[]): Html {
  const cells = (line: string) =>
    line
      .slice(1, line.lastIndexOf('|'))
      .split('|')
      .map((cell) => inline(cell.trim()));
  return html`<div class="scroll"><table>
<thead><tr>${cells(head).map((cell) => html`<th scope="col">${cell}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${cells(row).map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody>
</table></div>`;
}

export function inline(text: string): Html[] {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*|\[[^\]]+\]\((?:https:\/\/|#|\/)[^\s)]*\))/).map((piece) => {
    if (/^`.+`$/s.test(piece)) return html`<code>${piece.slice(1, -1)}</code>`;
    if (/^\*\*.+\*\*$/s.test(piece)) return html`<strong>${piece.slice(2, -2)}</strong>`;
    const [, label, address] = /^\[(.+)\]\((.+)\)$/s.exec(piece) ?? [];
    if (label !== undefined && address !== undefined) return html`<a href="${address}">${label}</a>`;
    return html`${piece}`;
  });
}
