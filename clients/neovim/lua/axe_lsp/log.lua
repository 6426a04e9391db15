-- The events of runs as text for people: a line each, indented by depth. Knows nothing of buffers.
--
-- One run at a time writes its text as it arrives; what others say meanwhile is written when their turn
-- ends, because pieces of parallel answers in one another's lines would be unreadable.

local M = {}

local MAX_LINE = 160

local function shorten(text)
  local line = vim.trim(text:gsub('%s+', ' '))
  return vim.fn.strchars(line) > MAX_LINE and vim.fn.strcharpart(line, 0, MAX_LINE - 1) .. '…' or line
end

local function seconds(milliseconds)
  return string.format('%.1f s', milliseconds / 1000)
end

local function count(number, noun)
  return string.format('%d %s%s', number, noun, number == 1 and '' or 's')
end

local function prefix(event)
  return string.rep('  ', event.depth) .. event.agent
end

--- `write` takes text, which may end within a line.
function M.new(write)
  local speaker, line_is_open

  local function close_line()
    if line_is_open then
      write('\n')
      line_is_open = false
    end
  end

  local function line(event, ...)
    close_line()
    write(prefix(event) .. ' ' .. string.format(...) .. '\n')
  end

  --- Whether the run's text of this turn has been written as it arrived.
  local function end_speech(run_id)
    if speaker ~= run_id then
      return false
    end
    speaker = nil
    close_line()
    return true
  end

  local log = {}

  log['axe/agent'] = function(event)
    if event.kind == 'begin' then
      line(event, '▶ %s%s', shorten(event.task), event.model ~= '' and ' (' .. event.model .. ')' or '')
      return
    end
    end_speech(event.runId)
    local mark = event.status == 'completed' and '✓' or '✗'
    local reason = event.error and ': ' .. shorten(event.error) or ''
    line(event, '%s %s in %s%s · %s, %s, %d tokens in, %d out', mark, event.status, seconds(event.durationMs), reason,
      count(event.turns, 'turn'), count(event.toolCalls, 'tool call'), event.inputTokens, event.outputTokens)
  end

  log['axe/turn'] = function(event)
    if event.kind == 'begin' then
      line(event, '· turn %d, %s', event.turn, count(event.messages, 'message'))
    elseif not end_speech(event.runId) and event.text ~= '' then
      for _, spoken in ipairs(vim.split(event.text, '\n', { plain = true })) do
        line(event, '| %s', spoken)
      end
    end
  end

  log['axe/text'] = function(event)
    speaker = speaker or event.runId
    if speaker ~= event.runId then
      return
    end
    local continuation = prefix(event) .. ' | '
    local spoken = vim.split(event.delta, '\n', { plain = true })
    write((line_is_open and '' or continuation) .. table.concat(spoken, '\n' .. continuation))
    line_is_open = true
  end

  log['axe/tool'] = function(event)
    if event.kind == 'begin' then
      line(event, '→ %s %s', event.name, shorten(vim.fn.json_encode(event.arguments)))
    elseif event.isError then
      line(event, '← %s failed after %s: %s', event.name, seconds(event.durationMs), shorten(event.content))
    else
      line(event, '← %s in %s', event.name, seconds(event.durationMs))
    end
  end

  return log
end

return M
