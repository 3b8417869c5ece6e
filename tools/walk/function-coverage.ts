import { Session } from 'node:inspector/promises'

const root = new URL('../../src/', import.meta.url).href

/** Counts calls of the functions of `src` in this process, by the profiler of V8. */
export class FunctionCoverage {
  readonly #session = new Session()

  static async start(): Promise<FunctionCoverage> {
    const coverage = new FunctionCoverage()
    coverage.#session.connect()
    await coverage.#session.post('Profiler.enable')
    await coverage.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    return coverage
  }

  /** Functions that ran since the last call, each as `<file URL> <function>`. */
  async take(): Promise<ReadonlySet<string>> {
    const { result } = await this.#session.post('Profiler.takePreciseCoverage')
    return new Set(
      result
        .filter(({ url }) => url.startsWith(root))
        .flatMap(({ url, functions }) =>
          functions
            .filter(({ ranges: [whole] }) => (whole?.count ?? 0) > 0)
            .map(
              ({ functionName, ranges: [whole] }) => `${url} ${functionName || `at:${whole?.startOffset}`}`,
            ),
        ),
    )
  }

  async stop(): Promise<void> {
    await this.#session.post('Profiler.stopPreciseCoverage')
    this.#session.disconnect()
  }
}
