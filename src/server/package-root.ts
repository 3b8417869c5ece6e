/** Where package.json and the files that are shipped beside the program lie: two above, in the source and in the bundle. */
export const packageRoot = new URL('../../', import.meta.url)
