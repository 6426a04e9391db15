-- Runs in a buffer: a line for each thing that happens, those of an agent below its head, and inside them those of the
-- agents that it calls. Times and tokens are virtual text. Knows neither windows, but those that follow the end,
-- nor servers.
--
-- Agents that work at the same time write in their own places: what happens is put behind the last line of its
-- agent and of all below it. Extmarks know where that is, whatever has been put above.

local markdown = require('axe_lsp.markdown')
local words = require('axe_lsp.words')

local M = {}

local namespace = vim.api.nvim_create_namespace('axe_lsp_runs')

local function row_of(tree, item)
  return vim.api.nvim_buf_get_extmark_by_id(tree.bufnr, namespace, item.mark, {})[1]
end

local function last_row(tree, run)
  local last = row_of(tree, run.last) + run.last.height - 1
  for _, child in ipairs(run.children) do
    last = math.max(last, last_row(tree, child))
  end
  return last
end

local function line_count(tree)
  return vim.api.nvim_buf_line_count(tree.bufnr)
end

local function is_empty(tree)
  return line_count(tree) == 1 and vim.api.nvim_buf_get_lines(tree.bufnr, 0, 1, true)[1] == ''
end

--- Changes the buffer. A cursor at its end stays at the end; every other one stays where it is.
local function change(tree, edit)
  local following = vim.tbl_filter(function(window)
    return vim.api.nvim_win_get_cursor(window)[1] == line_count(tree)
  end, vim.fn.win_findbuf(tree.bufnr))
  vim.bo[tree.bufnr].modifiable = true
  edit()
  vim.bo[tree.bufnr].modifiable = false
  for _, window in ipairs(following) do
    vim.api.nvim_win_set_cursor(window, { line_count(tree), 0 })
  end
end

local function set_mark(tree, item, row, figures)
  local options = { id = item.mark }
  if figures then
    options.virt_text = { { ' ' .. (figures:gsub('\n', ' ')), 'AxeRunsFigures' } } -- else without colours they are part of the line
    item.figures = figures
  end
  item.mark = vim.api.nvim_buf_set_extmark(tree.bufnr, namespace, row, 0, options)
  tree.items[item.mark] = item
end

local function show_figures(tree, item, figures)
  set_mark(tree, item, row_of(tree, item), figures)
end

--- Shows figures at the head of an agent, and which files it has changed.
local function show_head(tree, run, figures)
  run.figures = figures
  show_figures(tree, run.head, run.changes and figures .. ' · ' .. run.changes or figures)
end

--- Puts a line at the end of a run; without one, at the end of all.
local function add(tree, run, indent, mark, text, item)
  local row = run and last_row(tree, run) + 1 or (is_empty(tree) and 0 or line_count(tree))
  change(tree, function()
    local behind = is_empty(tree) and 1 or row
    vim.api.nvim_buf_set_lines(tree.bufnr, row, behind, true, { string.rep('  ', indent) .. mark .. text:gsub('\n', ' ') })
    item.height = 1
    set_mark(tree, item, row)
  end)
  return item
end

local function prefix_of_text(run)
  return string.rep('  ', run.depth + 1) .. words.TEXT
end

local function tell(tree, run, mark, text, item)
  item.run = run
  run.last = add(tree, run, run.depth + 1, mark, text, item)
  return item
end

--- Exchanges what the head of an agent begins with.
local function mark_head(tree, run, mark)
  local row, column = row_of(tree, run.head), 2 * run.depth
  if run.mark ~= mark then
    change(tree, function()
      vim.api.nvim_buf_set_text(tree.bufnr, row, column, row, column + #run.mark, { mark })
    end)
    run.mark = mark
  end
end

--- Shows that an agent is at work, or waits for the user's answer.
local function show_work(tree, run)
  local waits = run.questions > 0
  mark_head(tree, run, waits and words.WAITING or words.RUNNING)
  show_head(tree, run, words.at_work(run.begun.model, waits, run.time))
end

--- Appends to the text that an agent writes. The ends of lines at its end wait for what comes after them.
local function speak(tree, run, text)
  local item = run.text
  local spoken, owed = ((item and item.owed or '') .. text):match('^(.-)(\n*)$')
  if spoken == '' then
    return
  end
  if not item then
    item = tell(tree, run, words.TEXT, '', { kind = 'text', turn = run.turn })
    run.text = item
  end
  item.owed = owed
  local row = row_of(tree, item) + item.height - 1
  local column = #vim.api.nvim_buf_get_lines(tree.bufnr, row, row + 1, true)[1]
  local lines = vim.split(spoken, '\n', { plain = true })
  for index = 2, #lines do
    lines[index] = prefix_of_text(run) .. lines[index]
  end
  change(tree, function()
    vim.api.nvim_buf_set_text(tree.bufnr, row, column, row, column, lines)
  end)
  item.height = item.height + #lines - 1
end

--- An agent has written a text. Parsing its Markdown with each piece would cost forty times as much as the piece does.
local function end_text(tree, run)
  local item = run.text
  run.text = nil
  if item then
    local first = row_of(tree, item)
    markdown.show_when_seen(tree.bufnr, first, first + item.height - 1, #prefix_of_text(run))
  end
end

--- What a model thinks becomes one line when it has thought; it is no part of what it says.
local function think(tree, run, delta)
  if not run.thought and run.turn then
    show_figures(tree, run.turn, 'thinking')
  end
  run.thought = (run.thought or '') .. delta
end

local function end_thought(tree, run)
  local thought = vim.trim(run.thought or '')
  run.thought = nil
  if thought ~= '' then
    tell(tree, run, words.THOUGHT, words.shorten(thought), { kind = 'text', turn = run.turn })
    if run.turn then
      run.turn.thought = (run.turn.thought and run.turn.thought .. '\n\n' or '') .. thought
    end
  end
end

local function begin_run(tree, event)
  local run = { depth = event.depth, children = {}, begun = event, calls = {}, questions = 0, mark = words.RUNNING }
  local parent = tree.runs[event.parentRunId]
  run.head = add(tree, parent, event.depth, words.RUNNING, words.head(event), { kind = 'run', run = run })
  run.last = run.head
  tree.runs[event.runId] = run
  if parent then
    table.insert(parent.children, run)
  end
  show_head(tree, run, event.model)
end

local function end_run(tree, run, ended)
  end_text(tree, run)
  run.ended = ended
  local problem = words.problem(ended)
  if problem then
    tell(tree, run, words.PROBLEM, problem, { kind = 'run' })
  end
  if ended.changes then
    tell(tree, run, ended.unapplied and words.PROBLEM or words.RETRY, ended.changes, { kind = 'run' })
  end
  mark_head(tree, run, words.ending(ended))
  show_head(tree, run, ended.durationMs and words.figures(ended) or ended.status)
end

--- A run goes on that had begun in a former process. What this had left open is over.
local function resume_run(tree, run, event)
  run.ended, run.time = nil, nil
  end_text(tree, run)
  run.calls = {}
  show_work(tree, run)
  tell(tree, run, words.RETRY, 'resumed at turn ' .. event.turn, { kind = 'run' })
end

local function begin_turn(tree, run, event)
  end_text(tree, run)
  run.turn = tell(tree, run, words.TURN, 'turn ' .. event.turn, { kind = 'turn' })
end

local function end_turn(tree, run, event)
  if not run.text then
    speak(tree, run, event.text)
  end
  end_text(tree, run)
  run.last_turn = event
  if event.incomplete then
    tell(tree, run, words.PROBLEM, words.incomplete(event), { kind = 'text', turn = run.turn })
  end
  if run.turn then
    run.turn.ended = event
    show_figures(tree, run.turn, words.seconds(event.durationMs) .. ' · ' .. words.used(event))
  end
end

local function begin_tool(tree, run, event)
  local item = { kind = 'tool', begun = event, run = run }
  run.calls[event.callId] = item
  if not words.starts_an_agent(event.name) then
    tell(tree, run, words.TOOL, words.call(event), item)
  end
end

local function end_tool(tree, run, event)
  local item = run.calls[event.callId]
  if not item then
    return
  end
  run.calls[event.callId] = nil
  item.ended = event
  -- What is cancelled with its agent need not be said of each call.
  local has_failed = event.isError and event.content ~= 'cancelled'
  if not item.mark then
    if event.childRunId or not has_failed then
      return
    end
    tell(tree, run, words.TOOL, words.call(item.begun), item)
  end
  show_figures(tree, item, (event.isError and 'failed after ' or '') .. words.seconds(event.durationMs))
  if has_failed then
    tell(tree, run, words.PROBLEM, words.shorten(event.content), { kind = 'tool', begun = item.begun, ended = event })
  end
end

local function take(tree, method, event)
  if method == 'axe/agent' and event.kind == 'begin' then
    return begin_run(tree, event)
  end
  local run = tree.runs[event.runId]
  if not run and event.kind == 'resume' then
    begin_run(tree, event)
    run = tree.runs[event.runId]
  end
  if not run then
    return -- it began before anybody listened
  elseif method == 'axe/thought' then
    return think(tree, run, event.delta)
  elseif method == 'axe/turn' and event.kind == 'retry' then
    run.thought = nil -- it is thought of anew
  end
  end_thought(tree, run)
  if method == 'axe/agent' then
    if event.kind == 'idle' then
      tell(tree, run, words.RETRY, words.idle(event), { kind = 'run' })
    else
      (event.kind == 'end' and end_run or resume_run)(tree, run, event)
    end
  elseif method == 'axe/message' then
    tell(tree, run, words.RETRY, words.message(event), { kind = 'message', event = event })
  elseif method == 'axe/text' then
    speak(tree, run, event.delta)
  elseif method == 'axe/tool' then
    (event.kind == 'begin' and begin_tool or end_tool)(tree, run, event)
  elseif method == 'axe/place' then
    local told = words.place(event)
    if told then
      tell(tree, run, words.RETRY, told, { kind = 'text', turn = run.turn })
    end
  elseif method == 'axe/wait' then
    tell(tree, run, words.RETRY, words.wait(event), { kind = 'text', turn = run.turn })
  elseif method == 'axe/context' then
    tell(tree, run, words.RETRY, words.context(event), { kind = 'text', turn = run.turn })
  elseif method == 'axe/turn' and event.kind == 'retry' then
    tell(tree, run, words.RETRY, words.retry(event), { kind = 'turn', ended = run.turn and run.turn.ended })
  elseif method == 'axe/turn' then
    (event.kind == 'begin' and begin_turn or end_turn)(tree, run, event)
  end
end

--- A tree that is written into a buffer.
function M.new(bufnr)
  local tree = { bufnr = bufnr, runs = {}, items = {} }

  --- Something has happened: a notification of the server.
  function tree.tell(method, event)
    if vim.api.nvim_buf_is_loaded(bufnr) then
      take(tree, method, event)
    end
  end

  --- A run of which nobody will say how it has ended.
  function tree.lose(run_id)
    tree.tell('axe/agent', { kind = 'end', runId = run_id, status = 'killed', error = 'the language server has stopped' })
  end

  --- Shows how long a run has been at work.
  function tree.show_time(run_id, milliseconds)
    local run = vim.api.nvim_buf_is_loaded(bufnr) and tree.runs[run_id]
    if run and not run.ended then
      run.time = milliseconds
      show_work(tree, run)
    end
  end

  --- Shows what a run has changed in files; nil for nothing.
  function tree.show_changes(run_id, changes)
    local run = vim.api.nvim_buf_is_loaded(bufnr) and tree.runs[run_id]
    if run and run.changes ~= changes then
      run.changes = changes
      show_head(tree, run, run.figures)
    end
  end

  --- An agent has a question more, or one less, that the user has not answered. It waits, and those that called it.
  function tree.ask(run_id, more)
    local run = vim.api.nvim_buf_is_loaded(bufnr) and tree.runs[run_id]
    while run do
      run.questions = math.max(0, run.questions + more) -- A tree made meanwhile does not know what is settled now.
      if not run.ended then
        show_work(tree, run)
      end
      run = run.begun.parentRunId and tree.runs[run.begun.parentRunId]
    end
  end

  --- What a line tells of.
  function tree.item_at(row)
    local marks = vim.api.nvim_buf_get_extmarks(bufnr, namespace, { row, 0 }, 0, { limit = 1 })
    return marks[1] and tree.items[marks[1][1]]
  end

  --- The row of a run's head.
  function tree.row_of(run_id)
    local run = tree.runs[run_id]
    return run and row_of(tree, run.head)
  end

  return tree
end

return M
