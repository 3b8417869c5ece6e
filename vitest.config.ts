import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Awaited events have deadlines far beyond what is promised; what is promised is measured in bench/.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
