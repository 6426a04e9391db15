-- What is said of runs, in a line each. Knows nothing of buffers.

local M = {}

local MAX_LINE = 160

-- What a line begins with, behind its indentation.
M.RUNNING, M.WAITING, M.COMPLETED, M.STOPPED, M.FAILED = '▶ ', '? ', '✓ ', '■ ', '✗ '
M.TURN, M.TEXT, M.THOUGHT, M.TOOL, M.RETRY, M.PROBLEM = '· ', '│ ', '~ ', '→ ', '⟳ ', '! '

--- Members that are sent back, compared or opened as they are; who shows one calls M.visible with it.
local EXACT = {}
for _, name in ipairs({
  'after', 'before', 'callId', 'childRunId', 'digest', 'id', 'inputSchema', 'parentRunId', 'path', 'rootRunId', 'runId',
  'uri',
}) do
  EXACT[name] = true
end

local REPLACEMENT = '\239\191\189' -- U+FFFD

local function picture(character)
  local code = character:byte()
  return '\226\144' .. string.char(code == 127 and 161 or 128 + code) -- U+2400 and on
end

local function visible_text(text)
  if not text:find('[%z\1-\8\11-\31\127\194\216\226]') then
    return text
  end
  return (text:gsub('\r\n', '\n')
    :gsub('[%z\1-\8\11-\31\127]', picture)
    :gsub('\194[\128-\159]', REPLACEMENT) -- C1
    :gsub('\216\156', REPLACEMENT) -- U+061C
    :gsub('\226\128[\142\143\168-\174]', REPLACEMENT) -- U+200E, U+200F, U+2028 to U+202E
    :gsub('\226\129[\166-\169]', REPLACEMENT)) -- U+2066 to U+2069
end

--- A text, or all texts of what the server sends, with signs in place of characters that a terminal obeys or that turn
--- a text round. Files and models choose them: names of agents and tools, descriptions, messages, answers.
function M.visible(value)
  if type(value) == 'string' then
    return visible_text(value)
  elseif type(value) ~= 'table' then
    return value
  end
  local copy = setmetatable({}, getmetatable(value)) -- The one of an empty object tells it from a list.
  for name, each in pairs(value) do
    copy[type(name) == 'string' and visible_text(name) or name] = EXACT[name] and each or M.visible(each)
  end
  return copy
end

function M.shorten(text)
  local line = vim.trim(M.visible(text):gsub('%s+', ' '))
  return vim.fn.strchars(line) > MAX_LINE and vim.fn.strcharpart(line, 0, MAX_LINE - 1) .. '…' or line
end

function M.seconds(milliseconds)
  return string.format('%.1f s', milliseconds / 1000)
end

local function count(number, noun)
  return string.format('%d %s%s', number, noun, number == 1 and '' or 's')
end

--- Tokens, and what they cost if that is known, of an agent, a turn or a tree.
function M.used(by)
  local tokens = string.format('%d tokens in, %d out', by.inputTokens, by.outputTokens)
  return by.cost and string.format('%s, $%.4f', tokens, by.cost) or tokens
end

--- How many lines a file, or all of them, have got and lost.
local function lines(added, removed)
  return ('+%d −%d'):format(added, removed)
end

--- The changed lines of a file, if they are known.
function M.lines(file)
  return file.added and lines(file.added, file.removed) or 'lines not known'
end

--- Changed files with their lines, of a run or a turn: `files` is their number.
function M.changed_files(sum)
  return count(sum.files, 'file') .. ' ' .. lines(sum.added, sum.removed)
end

--- The same for an answer to axe/changes, without files that are as they were before; nil if there are none.
function M.changes(changes)
  local sum = { files = 0, added = 0, removed = 0 }
  for _, file in ipairs(changes.files) do
    if not file.isUndone then
      sum.files = sum.files + 1
      sum.added = sum.added + (file.added or 0)
      sum.removed = sum.removed + (file.removed or 0)
    end
  end
  return sum.files > 0 and M.changed_files(sum) or nil
end

--- A side run by its own name, any other run by that of its agent.
function M.name(begun)
  return begun.side or begun.agent
end

--- Which agent does what.
function M.head(begun)
  local task = M.shorten(begun.description or begun.task or '')
  return M.shorten(M.name(begun)) .. (begun.side and ' (side run)' or '') .. (task ~= '' and ': ' .. task or '')
end

--- The mark of an agent that has ended.
function M.ending(ended)
  return ended.status == 'completed' and M.COMPLETED or ended.status == 'cancelled' and M.STOPPED or M.FAILED
end

--- What is said of an agent at work: its model, whether it waits for the user, and for how long it has been at work.
function M.at_work(model, waits, milliseconds)
  return model .. (waits and ' · waits for your answer' or '') .. (milliseconds and ' · ' .. M.seconds(milliseconds) or '')
end

--- A time of the protocol, which is UTC, in the user's time zone.
local function local_time(text)
  local year, month, day, hour, minute = text:match('^(%d+)-(%d+)-(%d+)T(%d+):(%d+)')
  local as_local = os.time({ year = year, month = month, day = day, hour = hour, min = minute, isdst = false })
  local offset = as_local - os.time(os.date('!*t', as_local))
  return os.date('%Y-%m-%d %H:%M', as_local + offset)
end

--- A past run in a list.
function M.past(run)
  return ('%s  %s  %s'):format(local_time(run.began), run.waits and 'waiting' or run.status, M.head(run))
end

local INCOMPLETE = {
  length = 'cut off at the output limit',
  context_window = 'context window full',
  content_filter = 'stopped by a content filter',
  refusal = 'refused by the model',
  paused = 'paused by the provider',
  malformed_call = 'malformed call',
  interrupted = 'broken off by a message',
}

--- What is wrong with the answer of an agent or a turn; nil if it is whole. A later server may know more reasons.
function M.incomplete(ended)
  return ended.incomplete and (INCOMPLETE[ended.incomplete] or ended.incomplete)
end

--- The figures of an agent that has ended, behind what is wrong with its answer.
function M.figures(ended)
  local figures = { M.seconds(ended.durationMs), count(ended.turns, 'turn'), count(ended.toolCalls, 'tool call'), M.used(ended) }
  if ended.incomplete then
    table.insert(figures, 1, M.incomplete(ended))
  end
  if ended.tree then
    table.insert(figures, M.used(ended.tree) .. ' with all agents')
  end
  return table.concat(figures, ' · ')
end

--- Why an agent has not done what it should; nil where it has. A cancelled one gives "cancelled" as the reason
--- too; once is enough.
function M.problem(ended)
  local reason = ended.error or ended.reason
  if ended.status == 'completed' and not reason then
    return nil
  end
  return ended.status .. (reason and reason ~= ended.status and ': ' .. M.shorten(reason) or '')
end

function M.call(event)
  return M.shorten(event.name) .. ' ' .. M.shorten(vim.fn.json_encode(event.arguments))
end

--- Whether a tool starts an agent, which then tells of itself.
function M.starts_an_agent(tool)
  return tool == 'call_agent' or tool == 'Task' or vim.startswith(tool, 'subagent--')
end

function M.retry(event)
  return string.format('%s: %s; sent again in %s (%d of %d)', event.category, M.shorten(event.message),
    M.seconds(event.waitMs), event.attempt, event.maxAttempts)
end

--- Where the tools of an agent in a copy work, or what they wait for; nil for the usual place.
function M.place(event)
  if event.waiting then
    return 'waits for ' .. event.waiting .. (event.place ~= '' and ' at ' .. event.place or '')
  elseif event.place ~= 'here' then
    return 'works at ' .. event.place .. (event.reason and ', since ' .. M.shorten(event.reason) or '')
  end
end

--- Why a request waits for its provider.
function M.wait(event)
  local wait = type(event.waitMs) == 'number' and event.waitMs
  return event.provider .. (wait and ' asked for a pause: waiting for ' .. M.seconds(wait)
    or ' takes no more requests at once: waiting for others')
end

--- That a run waits for its side runs.
function M.idle(event)
  return 'waits for ' .. table.concat(event.sideRuns, ', ')
end

local MODES = { next = '', after = ' for the end of the run', now = ', given at once' }

--- What happens to a message, and what a request gives to the model beside tool results.
function M.message(event)
  if event.kind == 'queued' then
    return 'message' .. (MODES[event.mode] or '') .. ': ' .. M.shorten(event.text)
  elseif event.kind == 'changed' then
    return 'message changed' .. (MODES[event.mode] or '') .. (event.text and ': ' .. M.shorten(event.text) or '')
  elseif event.kind == 'removed' then
    return 'message removed'
  end
  local sides = #event.sideRuns
  local answers = sides > 0 and (sides == 1 and 'answer of ' or 'answers of ') .. table.concat(event.sideRuns, ', ')
  local messages = #event.messageIds
  local told = (messages > 0 or sides == 0) and count(math.max(1, messages), 'message')
  return 'given: ' .. (answers or '') .. (answers and told and ' and ' or '') .. (told or '')
end

--- What happens to a conversation that is too long for its model.
function M.context(event)
  if event.kind == 'begin' then
    return string.format('asks for a summary, since about %d tokens are too many', event.tokensBefore)
  elseif event.error then
    return 'no summary: ' .. M.shorten(event.error)
  end
  local what = event.kind == 'end' and string.format('%d messages replaced by a summary', event.messages)
    or string.format('%d old tool results shortened', event.results)
  return string.format('%s, about %d to %d tokens', what, event.tokensBefore, event.tokensAfter)
end

--- Names in a status line, in which a percent sign begins an expression that Neovim executes.
function M.status(names)
  return (M.shorten(table.concat(names, ', ')):gsub('%%', '％'))
end

return M
