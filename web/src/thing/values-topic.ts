const valuesTopic = /^things\/[^/]+\/values\/(.+)$/

/** The key in `things/<id>/values/<key>`; undefined for another topic. */
export function keyOfTopic(topic: string): string | undefined {
  return valuesTopic.exec(topic)?.[1]
}
