import type { Snippet } from '../snippet.ts'

export const curl: Snippet = {
  name: 'curl',
  needs: 'Any shell with curl 7.71 or newer. A device that speaks only HTTP sends the same request.',
  delivery:
    'HTTP 201, and the exit status 0, mean that the reading is stored. HTTP 401 and 404 mean that the token in the address is wrong. Without an answer curl sends the reading again, nine times in some four minutes, and says so. The reading has a datetime: if it is sent twice, the server stores it once.',
  text: ({ httpUrl, token }) =>
    `curl --no-progress-meter --max-time 30 --retry 8 --retry-all-errors '${httpUrl}/v2/things/${token}' \\
  -d '{"values":[{"key":"temperature","value":21.5,"datetime":"'$(date -u +%Y%m%d%H%M%S)'"}]}' \\
  -w ' HTTP %{http_code}\\n' | awk '1; / HTTP 201$/ { stored = 1 } END { exit !stored }'
`,
}
