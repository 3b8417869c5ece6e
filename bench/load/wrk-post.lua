-- What wrk posts, and says when it is done: `wrk -s wrk-post.lua <url> -- <body>`.

function init(arguments)
  wrk.method = "POST"
  wrk.headers["Content-Type"] = "application/json"
  wrk.body = arguments[1]
end

function done(summary)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  print(string.format('{"done":%d,"microseconds":%d,"failed":%d}', summary.requests, summary.duration, failed))
end
