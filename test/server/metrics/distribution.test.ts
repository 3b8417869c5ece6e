import { Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { Distribution } from '../../../src/server/metrics/distribution.ts'
import { histogram, register } from '../../../src/server/metrics/samples.ts'

describe('a distribution', () => {
  it('is a histogram: each bucket counts what is up to its bound', async () => {
    const registry = new Registry()
    const http = new Distribution([0.5, 1], { door: 'http' })
    const mqtt = new Distribution([0.5, 1], { door: 'mqtt' })
    for (const value of [0.25, 0.5, 0.75, 8]) http.observe(value)
    register(registry, { a_seconds: histogram('What it is.', [http, mqtt]) })
    const lines = (await registry.metrics()).trim().split('\n')
    expect(lines.slice(0, 7)).toEqual([
      '# HELP a_seconds What it is.',
      '# TYPE a_seconds histogram',
      'a_seconds_bucket{door="http",le="0.5"} 2',
      'a_seconds_bucket{door="http",le="1"} 3',
      'a_seconds_bucket{door="http",le="+Inf"} 4',
      'a_seconds_sum{door="http"} 9.5',
      'a_seconds_count{door="http"} 4',
    ])
    expect(lines).toContain('a_seconds_bucket{door="mqtt",le="+Inf"} 0')
  })
})
