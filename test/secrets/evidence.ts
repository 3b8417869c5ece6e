import { formsOf } from './forms.ts'

/** Who may know what was found: `files` holds what is on disk or a copy of that, `told` what others read. */
export type Kind = 'files' | 'told'

/** Everything that somebody else, or whoever gets hold of a disk or a log, could read; and the secrets it must not hold. */
export class Evidence {
  readonly #secrets = new Map<string, { name: string; forms: Map<string, Buffer>; isKeptInClear: boolean }>()
  readonly #pieces: { kind: Kind; where: string; bytes: Buffer }[] = []

  /** @param options `isKeptInClear`: may be in `files` (docs/inside/decisions/access.md, decision 28) */
  addSecret(name: string, secret: string, { isKeptInClear = false } = {}): string {
    this.#secrets.set(secret, { name, forms: formsOf(secret), isKeptInClear })
    return secret
  }

  /** @param where told in place of what was found there, so without secrets */
  add(kind: Kind, where: string, content: string | Uint8Array): void {
    this.#pieces.push({ kind, where, bytes: Buffer.from(content) })
  }

  /** Whether something that is no secret was seen: evidence without it would prove nothing. */
  holds(kind: Kind, where: string, text: string): boolean {
    return this.#pieces.some(piece => {
      return piece.kind === kind && piece.where.startsWith(where) && piece.bytes.includes(text)
    })
  }

  /** What was found, in words without the secret; each once. */
  leaks(): readonly string[] {
    const found = new Set<string>()
    for (const { name, forms, isKeptInClear } of this.#secrets.values()) {
      for (const { kind, where, bytes } of this.#pieces) {
        if (isKeptInClear && kind === 'files') continue
        for (const [form, needle] of forms)
          if (bytes.includes(needle)) found.add(`${name}: ${form}, ${where}`)
      }
    }
    return [...found]
  }
}
