/** Objects and arrays that come one behind the other, with nothing between them, in parts of any size. */
export class JsonDocuments {
  #text = ''
  /** What is left to be looked at begins here. */
  #at = 0
  #depth = 0
  #isInString = false

  /** @returns those that end with this part, as texts */
  take(part: string): string[] {
    const documents: string[] = []
    this.#text += part
    for (; this.#at < this.#text.length; this.#at++) {
      const letter = this.#text[this.#at]
      if (this.#isInString) {
        if (letter === '\\') this.#at++
        else if (letter === '"') this.#isInString = false
      } else if (letter === '"') this.#isInString = true
      else if (letter === '{' || letter === '[') this.#depth++
      else if (letter === '}' || letter === ']') {
        this.#depth--
        if (this.#depth > 0) continue
        documents.push(this.#text.slice(0, this.#at + 1))
        this.#text = this.#text.slice(this.#at + 1)
        this.#at = -1
      }
    }
    return documents
  }
}
