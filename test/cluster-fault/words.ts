/** @param milliseconds of a duration @returns such as `1.2 s` */
export function seconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(1)} s`
}
