import { declarationOf, environmentName, flagName, type OptionName, optionNames } from './options.ts'

/** `docs/reference/options.md`: a test holds the file equal to this. */
export function optionsTable(): string {
  return `# Options

Generated from \`src/server/options.ts\`. A value on the command line wins over the environment, that over the file
(\`--config <file>\` or \`THINGWIRE_CONFIG\`; without either \`config/default.json\`), that over the default. The names
in a file are those of the first column. An empty variable counts as not set. Lists in the environment and on the
command line have commas between their items.

| option | environment | command line | must be | default | sets | why this default |
|---|---|---|---|---|---|---|
${optionNames.map(row).join('\n')}
`
}

/** One line of \`thingwire --help\` for each option of the command line. */
export function optionsHelp(): string {
  return optionNames
    .filter(name => !declarationOf(name).secret)
    .map(name => `  --${flagName(name).padEnd(20)} ${plain(name)}`)
    .join('\n')
}

function plain(name: OptionName): string {
  const { meaning, unit, default: value } = declarationOf(name)
  const text = meaning.replaceAll('`', '')
  return value === undefined ? text : `${text} Default ${shown(name)}${unit ? ` ${unit}` : ''}.`
}

function row(name: OptionName): string {
  const { rule, meaning, reason, secret } = declarationOf(name)
  const flag = secret ? 'no: every user of the machine could read it' : `\`--${flagName(name)}\``
  const value = declarationOf(name).default === undefined ? 'none' : `\`${shown(name)}\``
  return `| \`${name}\` | \`${environmentName(name)}\` | ${flag} | ${rule} | ${value} | ${meaning} | ${reason} |`
}

function shown(name: OptionName): string {
  return String(declarationOf(name).default)
}
