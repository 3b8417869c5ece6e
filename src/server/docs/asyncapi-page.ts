import { hash } from 'node:crypto'
import type { AsyncApi } from './asyncapi.ts'

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 0 auto; padding: 1rem; }
section { margin: 2rem 0; }
h2, h3 { line-height: 1.2; overflow-wrap: anywhere; }
pre { overflow-x: auto; padding: .75rem; border: 1px solid; border-radius: .25rem; font-size: .875rem; }
dt { font-weight: 600; }
dd { margin: 0 0 .5rem; }
`

/** SHA-256 of the style element of the page, base64, for its Content-Security-Policy. */
export const pageStyleHash = hash('sha256', style, 'base64')

/** The document as an HTML page without scripts. */
export function asyncApiPage(document: AsyncApi): string {
  const { info, servers, channels, components } = document
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Thingwire: AsyncAPI</title>
<style>${style}</style>
</head>
<body>
<h1>${text(info.title)} ${text(info.version)}: MQTT</h1>
${prose(info.description)}
<p>Programs get a document from the same address with <code>Accept: application/json</code>
(AsyncAPI ${text(document.asyncapi)}).</p>
<nav aria-label="Topics"><ul>
${each(channels, (name, { address }) => `<li><a href="#${text(name)}"><code>${text(address)}</code></a></li>`)}
</ul></nav>
<section><h2>Where</h2><dl>
${each(servers, (_, server) => {
  const path = 'pathname' in server ? server.pathname : ''
  const url = `${server.protocol}://${server.host}${path}`
  return `<dt><code>${text(url)}</code></dt><dd>${prose(server.description)}</dd>`
})}
</dl></section>
<section><h2>Credential</h2>${prose(components.securitySchemes.credential.description)}</section>
${each(channels, (name, channel) => channelSection(document, name, channel))}
<section><h2>Schemas</h2>
${each(components.schemas, (name, schema) => `<h3 id="schema-${text(name)}">${text(name)}</h3>${code(schema)}`)}
</section>
</body>
</html>
`
}

function channelSection(
  document: AsyncApi,
  name: string,
  { address, description, parameters }: AsyncApi['channels'][string],
): string {
  const own = Object.values(document.operations).filter(
    ({ channel }) => channel.$ref === `#/channels/${name}`,
  )
  return `<section><h2 id="${name}"><code>${text(address)}</code></h2>
${prose(description)}
<dl>
${each(parameters, (parameter, says) => {
  return `<dt><code>{${text(parameter)}}</code></dt><dd>${prose(says.description)}</dd>`
})}
</dl>
${own.map(operation => operationPart(document, operation)).join('\n')}
</section>`
}

function operationPart(
  { components }: AsyncApi,
  { action, summary, messages, bindings }: AsyncApi['operations'][string],
): string {
  const name = messages.map(({ $ref }) => $ref.split('/').at(-1))[0] as keyof typeof components.messages
  const { title, payload, examples } = components.messages[name]
  const verb = action === 'receive' ? 'Publish' : 'Subscribe'
  const retained = bindings.mqtt.retain ? ', with RETAIN set' : ''
  return `<h3>${verb}: ${text(title)}</h3>
<p>${text(summary.replace(/\.$/, ''))}${retained}.</p>
<p>For example:</p>${code(examples[0]?.payload)}
${schemaPart(payload)}`
}

function schemaPart(schema: Readonly<Record<string, unknown>>): string {
  const { $ref } = schema
  if (typeof $ref !== 'string') return `<p>Schema:</p>${code(schema)}`
  const name = text($ref.split('/').at(-1) ?? '')
  return `<p>Schema: <a href="#schema-${name}">${name}</a></p>`
}

function each<Value>(
  record: Readonly<Record<string, Value>>,
  line: (name: string, value: Value) => string,
): string {
  return Object.entries(record)
    .map(([name, value]) => line(name, value))
    .join('\n')
}

function code(value: unknown): string {
  return `<pre><code>${text(JSON.stringify(value, null, 2) ?? '')}</code></pre>`
}

/** Converts the Markdown in the document's texts to HTML: paragraphs, lists, code and links. */
function prose(markdown: string): string {
  return markdown
    .split(/\n\n/)
    .map(block => {
      const items = block.split(/^- /m).slice(1)
      return items.length > 0
        ? `<ul>${items.map(item => `<li>${spans(item)}</li>`).join('')}</ul>`
        : `<p>${spans(block)}</p>`
    })
    .join('\n')
}

function spans(markdown: string): string {
  return text(markdown)
    .replaceAll(/`([^`]+)`/g, '<code>$1</code>')
    .replaceAll(/\[([^\]]+)\]\(([^)]+)\)/g, '<a href="$2">$1</a>')
}

function text(plain: string): string {
  return plain
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
