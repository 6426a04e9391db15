-- Questions of agents that want to change something or to know it: one at a time, with what it is about beside it.

local buffers = require('axe_lsp.run_buffers')
local views = require('axe_lsp.views')
local words = require('axe_lsp.words')

local M = {}

local CAN_WAIT = vim.fn.has('nvim-0.11') == 1

--- What the server is told, so that it asks. Older Neovims could only take an answer at once, from keys that may be
--- meant for something else: they are shown a message with the choices. Nor could they wait for language servers.
M.capabilities = { experimental = { axe = { approve = true, ask = CAN_WAIT, editor = CAN_WAIT } } }

local NO_ANSWER = vim.NIL
local DENIED = { decision = 'deny' }
local CHOICES = {
  { label = 'Allow', decision = 'allow' },
  { label = 'Allow %s for this run', decision = 'allowForRun' },
  { label = 'Deny', decision = 'deny' },
  { label = 'Deny, and say what to do instead', decision = 'deny', has_note = true },
}
local LONGEST = 2 ^ 31 - 1 -- milliseconds; the server takes a question back long before

-- The questions that have no answer yet: { question, kind, answer }; the first one is being put.
local waiting = {}
local allowed = {} -- what was allowed for a run, by the root run's id, the tool and what the call is about

local function subject(question)
  return table.concat({ question.rootRunId, question.tool, question.subject or question.details }, ' ')
end

local function show(first)
  first.close, first.bufnr = views.show_briefly('axe://question', first.kind.shown(first.question))
end

local put_next

local function settle(first, result)
  if waiting[1] == first then
    table.remove(waiting, 1)
    first.close()
    first.answer(result)
    put_next()
  end
end

--- Opens a choice or a prompt, and remembers the windows that a plugin opens for it: the question may be withdrawn.
local function open(first, prompt, ...)
  local before = {}
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    before[window] = true
  end
  prompt(...)
  first.windows = vim.tbl_filter(function(window)
    return not before[window]
  end, vim.api.nvim_list_wins())
end

--- Takes away what was opened for a question that needs no answer any more.
local function close_choices(first)
  for _, window in ipairs(first.windows or {}) do
    if window == vim.api.nvim_get_current_win() then
      vim.cmd('stopinsert') -- What follows was meant for the prompt.
    end
    pcall(vim.api.nvim_win_close, window, true)
  end
  vim.notify('axe: the question needs no answer any more', vim.log.levels.INFO)
end

local function choose_decision(first)
  local question = first.question
  local function on_choice(result)
    if waiting[1] == first then
      allowed[subject(question)] = result.decision == 'allowForRun' or nil
    end
    settle(first, result)
  end
  local options = {
    prompt = words.shorten(question.reason),
    format_item = function(choice)
      return choice.label:format(words.shorten(question.forRun or 'this'))
    end,
  }
  -- A protected place is asked about each time, and has no subject.
  local choices = vim.tbl_filter(function(choice)
    return question.subject ~= nil or choice.decision ~= 'allowForRun'
  end, CHOICES)
  open(first, vim.ui.select, choices, options, function(choice)
    if choice and choice.has_note and waiting[1] == first then
      open(first, vim.ui.input, { prompt = 'Instead: ' }, function(note)
        on_choice({ decision = 'deny', note = note })
      end)
    else
      on_choice(choice and { decision = choice.decision } or DENIED)
    end
  end)
end

local function choose_answer(first)
  local question = first.question
  local function on_answer(text)
    settle(first, text and vim.trim(text) ~= '' and { answer = text } or NO_ANSWER)
  end
  local function write()
    open(first, vim.ui.input, { prompt = words.shorten(question.reason) .. ': ' }, on_answer)
  end
  if not question.choices then
    return write()
  end
  local choices = vim.list_extend({ 'Answer in other words' }, question.choices)
  open(first, vim.ui.select, choices, { prompt = words.shorten(question.reason) }, function(choice, index)
    if index == 1 and waiting[1] == first then
      write()
    else
      on_answer(choice)
    end
  end)
end

--- What the user may want: to agree to a change, or to tell a model something.
local APPROVAL = {
  none = DENIED,
  choose = choose_decision,
  shown = function(question)
    return question.details, vim.startswith(question.details, '--- ') and 'diff' or 'sh'
  end,
}
local INQUIRY = {
  none = NO_ANSWER,
  choose = choose_answer,
  shown = function(question)
    return question.question, ''
  end,
}

local function choose(first)
  first.is_put = true
  views.give_room(first.bufnr)
  vim.cmd('redraw') -- else the prompt of Neovim itself would come before what it is about
  local good, reason = pcall(first.kind.choose, first)
  if not good then -- Ctrl-C at Neovim's own choices is an error.
    settle(first, first.kind.none)
    if not tostring(reason):find('Keyboard interrupt', 1, true) then
      vim.notify('axe: ' .. tostring(reason), vim.log.levels.ERROR)
    end
  end
end

--- Shows the next question. Its choices come with :AxeAnswer, so that nobody answers who is typing something else.
function put_next()
  local first = waiting[1]
  if not first then
    return
  end
  if first.kind == APPROVAL and allowed[subject(first.question)] then
    first.close = function() end
    return settle(first, { decision = 'allow' })
  end
  show(first)
  if first.blocks then
    return choose(first)
  end
  vim.notify(words.shorten(first.question.reason) .. '. Answer with :AxeAnswer', vim.log.levels.WARN)
  vim.api.nvim_exec_autocmds('User', { pattern = 'AxeQuestion', modeline = false })
end

--- Lets the user answer the question that is shown.
function M.answer()
  local first = waiting[1]
  if not first then
    vim.notify('No agent asks anything.', vim.log.levels.INFO)
  elseif not first.is_put then
    choose(first)
  end
end

local function put(question, kind, blocks, answer)
  buffers.ask(question, 1)
  local function on_answer(given)
    buffers.ask(question, -1)
    answer(given)
  end
  table.insert(waiting, { question = question, kind = kind, blocks = blocks, answer = on_answer })
  if #waiting == 1 then
    put_next()
  end
end

--- The user's answer. Newer Neovims wait for a coroutine; older ones want the answer at once, so the rest of
--- Neovim goes on below this function until it is there. As it takes no keys meanwhile, the choices come at once.
local function ask(question, kind)
  local this, is_main = coroutine.running()
  local can_yield = this and not is_main
  local result, is_suspended
  put(question, kind, not can_yield, function(given)
    result = given
    if is_suspended then
      vim.schedule(function()
        coroutine.resume(this)
      end)
    end
  end)
  if can_yield and not result then
    is_suspended = true
    coroutine.yield()
  elseif not result then
    vim.wait(LONGEST, function()
      return result ~= nil
    end, 20)
  end
  return result or kind.none
end

--- Answers axe/approve.
function M.approve(_, question)
  return ask(words.visible(question), APPROVAL)
end

--- Answers axe/ask.
function M.ask(_, question)
  return ask(words.visible(question), INQUIRY)
end

--- Nobody needs an answer to the questions that are about something.
local function withdraw(is_about)
  for index = #waiting, 2, -1 do
    if is_about(waiting[index].question) then
      local gone = table.remove(waiting, index)
      gone.answer(gone.kind.none)
    end
  end
  local first = waiting[1]
  if first and is_about(first.question) then
    if first.is_put then
      close_choices(first)
    end
    settle(first, first.kind.none)
  end
end

--- Whether a question has no answer yet.
function M.is_asked()
  return #waiting > 0
end

--- A tool call has ended, so the question about it is settled: the time for an answer was over, or the run was stopped.
function M.end_call(run_id, call_id)
  withdraw(function(question)
    return question.callId == call_id and question.runId == run_id
  end)
end

--- An agent has ended: nobody needs an answer to what it asked.
function M.end_agent(run_id)
  withdraw(function(question)
    return question.runId == run_id
  end)
end

--- The same for a root run and all its agents.
function M.forget(root_run_id)
  withdraw(function(question)
    return question.rootRunId == root_run_id
  end)
  for key in pairs(allowed) do
    if vim.startswith(key, root_run_id .. ' ') then
      allowed[key] = nil
    end
  end
end

return M
