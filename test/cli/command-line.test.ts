import { Command, type Option } from 'commander'
import { describe, expect, it } from 'vitest'
import { serverCommand } from '../../src/cli/client/connection.ts'
import { exitOf, exitText, helpOf } from '../../src/cli/help.ts'
import { createProgram } from '../../src/cli/program.ts'
import { runCommand } from './command.ts'

const commands = createProgram().commands.flatMap(command =>
  command.commands.length > 0 ? [...command.commands] : [command],
)
const paths = commands.map(({ parent, name }, index) => ({
  path: [parent?.parent ? parent.name() : '', commands[index]?.name() ?? name()].filter(part => part !== ''),
  command: commands[index],
}))

describe('the command line', () => {
  // After a change of a command, `npx vitest run test/cli/command-line.test.ts -u` writes the file anew.
  it('commandLinePage() is docs/reference/command-line.md', async () => {
    await expect(commandLinePage()).toMatchFileSnapshot('../../docs/reference/command-line.md')
  })

  it.each(paths)('$path has two examples of commands that there are', ({ command }) => {
    const examples = command ? helpOf(command)?.examples : undefined
    expect(examples?.length).toBeGreaterThanOrEqual(2)
    for (const [line] of examples ?? []) {
      const words = line.split(' ')
      expect(paths.some(({ path }) => path.every((part, place) => words[place] === part))).toBe(true)
    }
  })

  it('--help of a command shows its options, examples and exit statuses', async () => {
    const { code, stdout } = await runCommand(['things', 'create', '--help'])
    expect(code).toBe(0)
    expect(stdout).toContain('--credential-file')
    expect(stdout).toContain('thingwire things create boat')
    expect(stdout).toMatch(/^Exit status: 0 done; 1 /m)
  })

  it('--help of serve shows the options of the server', async () => {
    const { code, stdout } = await runCommand(['serve', '--help'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^ {2}--mqtt-port +\S/m)
  })

  it.each([
    [['wriet', 'boat', '--file', 'x'], /unknown command 'wriet' \(Did you mean write\?\)/],
    [['strat'], /Did you mean start\?/],
    [['boat'], /unknown command 'boat' \(see --help\)/],
    [['tokens', 'create'], /unknown command 'create' \(tokens has the commands add, list, revoke\)/],
  ])('names an unknown command, and the one that was meant: %j', async (args, told) => {
    const { code, stdout, stderr } = await runCommand(args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(told)
  })

  it('gives the form of a command that gets too many arguments', async () => {
    const { code, stderr } = await runCommand(['things', 'create', 'my', 'tank'])
    expect(code).toBe(2)
    expect(stderr).toContain(
      'the form is thingwire things create [options] [name], and a text with spaces needs quotes',
    )
  })

  it('serve takes no offence at the variables of other commands', async () => {
    const { stderr } = await runCommand(['serve', '--http-port', 'none'], {
      environment: { THINGWIRE_URL: 'http://127.0.0.1:8080', THINGWIRE_TOKEN: 'anything' },
    })
    expect(stderr).toMatch(/^thingwire: --http-port /)
  })
})

/** Rows that many commands share stand once, in the intro. */
const commonOptions = serverCommand(new Command(), 'any', '', { examples: [] }).options

const intro = `# The command line

This page is generated from \`src/cli\`. \`thingwire <command> --help\` shows the same text.

\`thingwire\` without a command runs the server, and \`demo\` runs a server of its own. \`restore\`, \`migrate\` and \`check\`
work on a data directory that no server uses. All other commands talk to a running server over HTTP, and take these options:

| | |
|---|---|
${commonOptions.map(optionRow).join('\n')}

- **Credential.** A command takes the first of: \`--credential-file\`; \`THINGWIRE_TOKEN\` (a thing's token or a session, for
  commands that need no operator); \`THINGWIRE_ADMIN_KEY\`; the admin key in the data directory of a server on this machine
  (\`--data-dir\`, \`THINGWIRE_DATA_DIR\`, \`./data\`). Other users can read a command line, so no option takes the credential itself.
- **Thing.** Give its id, or its name if no other thing has the same name. With a thing's own token, leave it out.
- **Output.** A command prints text for people. With \`--json\` it prints one JSON document, or one a line for a stream of
  records. Progress and messages go to stderr. Control characters from devices are escaped.
- **TLS.** To trust your own certificate, set \`NODE_EXTRA_CA_CERTS\`.
- **Exit status.** ${exitText}. A command with other statuses lists them below.
`

/** `docs/reference/command-line.md`: a test holds the file equal to this. */
function commandLinePage(): string {
  const commands = createProgram().commands.flatMap(command =>
    command.commands.length > 0 ? [...command.commands] : [command],
  )
  return `${intro}\n${commands.map(section).join('\n')}`
}

function section(command: Command): string {
  const path = pathOf(command)
  const helpText = helpOf(command)
  if (!helpText) throw new Error(`${path} has no examples`)
  const examples = helpText.examples.map(([line, does]) => `# ${does}\nthingwire ${line}`).join('\n')
  const notes = (helpText.notes ?? []).map(note => `${escaped(note)}\n\n`).join('')
  const rows = optionRows(command)
  const exit =
    exitOf(helpText) === exitText ? '' : `${rows === '' ? '' : '\n'}Exit status: ${exitOf(helpText)}.\n`
  return `## thingwire ${path}

${command.description()}

\`\`\`text
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
    ...command.options.filter(option => !isCommon(option)).map(option => optionRow(option)),
  ]
  if (rows.length === 0) return ''
  return `| | |\n|---|---|\n${rows.join('\n')}\n`
}

function optionRow({ flags, description }: Option): string {
  return `| \`${flags.replaceAll('|', '\\|')}\` | ${escaped(description)} |`
}

function isCommon({ flags, description }: Option): boolean {
  return commonOptions.some(common => common.flags === flags && common.description === description)
}

function pathOf(command: Command): string {
  const { parent } = command
  return parent?.parent ? `${parent.name()} ${command.name()}` : command.name()
}

/** For Markdown, where `<file>` would be a tag. */
function escaped(text: string): string {
  return text.replaceAll('<', '\\<')
}
