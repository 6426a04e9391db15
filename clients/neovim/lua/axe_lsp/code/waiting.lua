-- Waiting in a coroutine, as the answers to requests of the server do, while Neovim goes on.

local M = {}

--- Calls functions that take a callback, all at once, and returns what they gave it, in their order: after `ms`
--- milliseconds at the latest, with nil for those that have given nothing.
function M.gather(starts, ms)
  local this = coroutine.running()
  local results, open = {}, #starts
  local is_over, is_suspended = #starts == 0, false
  local function finish()
    if not is_over then
      is_over = true
      if is_suspended then
        coroutine.resume(this)
      end
    end
  end
  for index, start in ipairs(starts) do
    local has_given
    start(function(result)
      if not has_given and not is_over then
        has_given, open = true, open - 1
        results[index] = result
        if open == 0 then
          finish()
        end
      end
    end)
  end
  if not is_over then
    vim.defer_fn(finish, math.max(0, ms))
    is_suspended = true
    coroutine.yield()
  end
  return results
end

--- Waits for `ms` milliseconds, or until the function `wake` that `start` is called with is called.
function M.pause(ms, start)
  M.gather({ start or function() end }, ms)
end

--- The milliseconds until a deadline, which is in those of `vim.uv.now()`.
function M.left(deadline)
  return math.max(0, deadline - M.now())
end

--- Milliseconds, from any beginning.
function M.now()
  return vim.uv.hrtime() / 1e6
end

return M
