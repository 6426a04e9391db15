-- The events of runs as text for people: a line each, indented by depth. Knows nothing of buffers.
--
-- One run at a time writes its text as it arrives; what others say meanwhile is kept until it is their
-- turn to write, because pieces of parallel answers in one another's lines would be unreadable.

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

local function retry(event)
  return string.format('⟳ %s: %s; sent again in %s (%d of %d)', event.category, shorten(event.message),
    seconds(event.waitMs), event.attempt, event.maxAttempts)
end

local function used(by)
  local tokens = string.format('%d tokens in, %d out', by.inputTokens, by.outputTokens)
  return by.cost and string.format('%s, $%.4f', tokens, by.cost) or tokens
end

--- A cancelled run gives "cancelled" as the reason too; once is enough.
local function ending(event)
  local mark = event.status == 'completed' and '✓' or '✗'
  local reason = event.error and event.error ~= event.status and ': ' .. shorten(event.error) or ''
  local tree = event.tree and ', ' .. used(event.tree) .. ' with all agents' or ''
  return string.format('%s %s in %s%s · %s, %s, %s%s', mark, event.status, seconds(event.durationMs), reason,
    count(event.turns, 'turn'), count(event.toolCalls, 'tool call'), used(event), tree)
end

--- What a child is asked to do stands in its own line.
local function call(event)
  local what = event.name == 'call_agent' and event.arguments.agent or nil
  return event.name .. ' ' .. shorten(type(what) == 'string' and what or vim.fn.json_encode(event.arguments))
end

--- `write` takes text, which may end within a line.
function M.new(write)
  local speaker, line_is_open
  local owed = '' -- the ends of lines after which the speaker has said nothing yet
  local unheard = {} -- what others have said meanwhile, by run id

  local function close_line()
    if line_is_open then
      write('\n')
      line_is_open = false
      owed = owed:sub(2)
    end
  end

  local function line(event, text)
    close_line()
    write(prefix(event) .. ' ' .. text .. '\n')
  end

  --- Ends what a run says. `text` is all of it, and is written unless it was as it arrived.
  local function end_speech(event, text)
    unheard[event.runId] = nil
    if speaker == event.runId then
      close_line()
      speaker, owed = nil, ''
    elseif text ~= '' then
      for _, spoken in ipairs(vim.split(text:gsub('\n+$', ''), '\n', { plain = true })) do
        line(event, '| ' .. spoken)
      end
    end
  end

  local log = {}

  log['axe/agent'] = function(event)
    if event.kind == 'begin' then
      local model = event.model ~= '' and '(' .. event.model .. ')' or ''
      line(event, vim.trim('▶ ' .. vim.trim(shorten(event.description or event.task) .. ' ' .. model)))
    else
      end_speech(event, unheard[event.runId] or '')
      line(event, ending(event))
    end
  end

  --- A run of which nobody will say how it has ended; `begun` is its beginning.
  function log.lost(begun)
    end_speech(begun, unheard[begun.runId] or '')
    line(begun, '✗ killed: the language server has stopped')
  end

  log['axe/turn'] = function(event)
    if event.kind == 'begin' then
      line(event, string.format('· turn %d, %s', event.turn, count(event.messages, 'message')))
    elseif event.kind == 'retry' then
      line(event, retry(event))
    else
      end_speech(event, event.text)
    end
  end

  log['axe/text'] = function(event)
    speaker = speaker or event.runId
    local said = (unheard[event.runId] or '') .. event.delta
    if speaker ~= event.runId then
      unheard[event.runId] = said
      return
    end
    unheard[event.runId] = nil
    local spoken
    spoken, owed = (owed .. said):match('^(.-)(\n*)$')
    if spoken ~= '' then
      local continuation = prefix(event) .. ' | '
      write((line_is_open and '' or continuation) .. spoken:gsub('\n', function()
        return '\n' .. continuation
      end))
      line_is_open = true
    end
  end

  log['axe/tool'] = function(event)
    if event.kind == 'begin' then
      line(event, '→ ' .. call(event))
    elseif event.isError then
      line(event, string.format('← %s failed after %s: %s', event.name, seconds(event.durationMs), shorten(event.content)))
    else
      line(event, string.format('← %s in %s', event.name, seconds(event.durationMs)))
    end
  end

  return log
end

return M
