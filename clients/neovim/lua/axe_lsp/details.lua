-- The whole of what a line of the runs tells of in short: a task, an answer, the arguments and the result of a tool.

local words = require('axe_lsp.words')

local M = {}

local function part(title, text)
  return text and text ~= '' and { '', '## ' .. title, '', text } or {}
end

--- The arguments of a call, by name. Texts stand as they are, over several lines if they have them.
local function arguments(values)
  local names = vim.tbl_keys(values)
  table.sort(names)
  local lines = {}
  for _, name in ipairs(names) do
    local value = values[name]
    local text = type(value) == 'string' and value or vim.fn.json_encode(value)
    table.insert(lines, name .. (text:find('\n', 1, true) and ':\n' or ': ') .. text)
  end
  return table.concat(lines, '\n')
end

local function answer(run)
  return run.last_turn and run.last_turn.text
end

--- The pages and files that the answer of a turn cites, a line each.
local function sources(turn)
  local lines = vim.tbl_map(function(source)
    return '- ' .. vim.trim((source.title or '') .. ' ' .. (source.url or ''))
  end, turn.sources or {})
  return table.concat(lines, '\n')
end

local function of_run(run)
  local begun, ended = run.begun, run.ended
  local state = ended and ended.status or 'running'
  local figures = ended and ended.durationMs and words.figures(ended)
  return {
    '# ' .. words.name(begun),
    '',
    table.concat(vim.tbl_filter(function(each)
      return each and each ~= ''
    end, { state, figures or '', begun.model or '' }), ' · '),
    part('Task', begun.task),
    part('Error', ended and words.problem(ended) and (ended.error or ended.reason)),
    part('Answer', answer(run)),
    part('Sources', run.last_turn and sources(run.last_turn)),
  }
end

local function of_turn(item)
  local turn = item.ended
  if not turn then
    return { 'The model has not answered yet.', part('Thinks', item.thought) }
  end
  local calls = vim.tbl_map(function(call)
    return '### ' .. call.name .. '\n\n' .. arguments(call.arguments)
  end, turn.toolCalls)
  return {
    '# ' .. words.name(item.run.begun) .. ', turn ' .. turn.turn,
    '',
    (turn.incomplete and words.incomplete(turn) .. ' · ' or '') .. words.seconds(turn.durationMs) .. ' · ' .. words.used(turn),
    part('Thinks', item.thought),
    part('Says', turn.text),
    part('Sources', sources(turn)),
    part('Calls', table.concat(calls, '\n\n')),
  }
end

local function of_tool(item)
  return {
    '# ' .. item.begun.name,
    part('Arguments', arguments(item.begun.arguments)),
    part(item.ended and item.ended.isError and 'Error' or 'Result', item.ended and item.ended.content or 'It is still at work.'),
  }
end

local function of_message(item)
  return { '# ' .. words.name(item.run.begun), '', words.message(item.event), part('Text', item.event.text) }
end

--- The text of an item of a tree, as Markdown.
function M.text(item)
  local parts
  if item.kind == 'run' then
    parts = of_run(item.run)
  elseif item.kind == 'message' then
    parts = of_message(item)
  elseif item.kind == 'tool' then
    parts = of_tool(item)
  else
    parts = of_turn(item.kind == 'text' and item.turn or item)
  end
  local lines = {}
  for _, each in ipairs(parts) do
    vim.list_extend(lines, type(each) == 'table' and each or { each })
  end
  return table.concat(lines, '\n')
end

return M
