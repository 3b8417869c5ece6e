import type { Command } from 'commander'
import { createProgram } from './program.ts'
import { exitOf, exitText, lessonOf } from './teach.ts'

const intro = `# The command line

Generated from \`src/cli\`; the same is in \`thingwire <command> --help\`.

\`thingwire\` without a command runs the server. Commands on a data directory (\`restore\`, \`migrate\`, \`check\`) need it for
themselves. All others talk to a running server over HTTP.

**Which server**: \`--url\`, else \`THINGWIRE_URL\`, else port \`THINGWIRE_HTTP_PORT\` or 8080 of this machine. For a certificate
of one's own set \`NODE_EXTRA_CA_CERTS\`.

**Which credential**: \`--credential-file <file>\` (\`-\` is stdin), else \`THINGWIRE_TOKEN\` (a thing's token or a session; not
for what only the operator may do), else \`THINGWIRE_ADMIN_KEY\`, else the admin key that a server on this machine keeps in
its data directory (\`--data-dir\`, \`THINGWIRE_DATA_DIR\`, \`./data\`). None can be given on the command line itself, where every
user of the machine could read it.

**Which thing**: its id, or its name if no other has the same; with a thing's own token it is left out.

**Output**: tables for people, \`--json\` for programs: one JSON document, or one a line where records stream (\`tail\`, \`export\`,
\`read --ndjson\`). Progress and messages go to stderr. What a device has written cannot steer the terminal.

**Exit status**: ${exitText}. Where a command differs, it says so.
`

/** `docs/reference/command-line.md`: a test holds the file equal to this. */
export function commandLinePage(): string {
  const commands = createProgram().commands.flatMap(command =>
    command.commands.length > 0 ? [...command.commands] : [command],
  )
  return `${intro}\n${commands.map(section).join('\n')}`
}

function section(command: Command): string {
  const path = pathOf(command)
  const lesson = lessonOf(command)
  if (!lesson) throw new Error(`${path} has no examples`)
  const examples = lesson.examples.map(([line, does]) => `# ${does}\nthingwire ${line}`).join('\n')
  const notes = (lesson.notes ?? []).map(note => `${escaped(note)}\n\n`).join('')
  const rows = optionRows(command)
  const exit =
    exitOf(lesson) === exitText ? '' : `${rows === '' ? '' : '\n'}Exit status: ${exitOf(lesson)}.\n`
  return `## thingwire ${path}

${command.description()}

\`\`\`sh
thingwire ${path} ${command.usage()}

${examples}
\`\`\`

${notes}${rows}${exit}`
}

function optionRows(command: Command): string {
  const rows = [
    ...command.registeredArguments
      .filter(argument => argument.description !== '')
      .map(argument => `| \`${argument.name()}\` | ${escaped(argument.description)} |`),
    ...command.options.map(option => `| \`${option.flags}\` | ${escaped(option.description)} |`),
  ]
  if (rows.length === 0) return ''
  return `| | |\n|---|---|\n${rows.join('\n').replaceAll('asc|desc', 'asc\\|desc')}\n`
}

function pathOf(command: Command): string {
  const { parent } = command
  return parent?.parent ? `${parent.name()} ${command.name()}` : command.name()
}

/** For Markdown, where `<file>` would be a tag. */
function escaped(text: string): string {
  return text.replaceAll('<', '\\<')
}
