-- Messages to runs that are at work: sends them, and shows those that wait, to change, remove or give them at once.

local buffers = require('axe_lsp.run_buffers')
local requests = require('axe_lsp.requests')
local runs = require('axe_lsp.runs')
local words = require('axe_lsp.words')

local M = {}

local function ask_server(run, method, params, on_result)
  local client = vim.lsp.get_client_by_id(run.client_id)
  if client then
    params.runId = run.begun.runId
    requests.send(client, method, params, vim.api.nvim_get_current_buf(), on_result)
  end
end

--- The runs at work that take messages of their own: roots and side runs.
local function listening()
  return vim.tbl_filter(function(run)
    return run.begun.runId == run.begun.rootRunId or run.begun.side ~= nil
  end, runs.active(true))
end

--- Hands `use` the run of the line of the cursor, or the one at work, or of several the one that the user picks.
local function with_run(use)
  local item = buffers.item()
  local all = listening()
  local here = item and vim.tbl_filter(function(run)
    return run.begun.runId == item.run.begun.runId
  end, runs.active(true))[1]
  if here or #all == 1 then
    use(here or all[1])
  elseif #all == 0 then
    vim.notify('axe: no agent is running; ":AxeReply" goes on with a run that has ended', vim.log.levels.INFO)
  else
    local function describe(run)
      return words.head(run.begun)
    end
    vim.ui.select(all, { prompt = 'Which run?', format_item = describe }, function(run)
      if run then
        use(run)
      end
    end)
  end
end

--- Sends a message to a run at work, which gets it before its next request; the user is asked for it if it is ''. With
--- `now` what the run does is broken off.
function M.send(text, now)
  with_run(function(run)
    local function send(message)
      if message and vim.trim(message) ~= '' then
        ask_server(run, 'axe/message', { text = message, mode = now and 'now' or 'next' }, function() end)
      end
    end
    if text ~= '' then
      send(text)
    else
      vim.ui.input({ prompt = ('Message to %s: '):format(words.name(run.begun)) }, send)
    end
  end)
end

local function change(run, message, params)
  params.messageId = message.messageId
  ask_server(run, 'axe/changeMessage', params, function(result)
    if not result.changed then
      vim.notify('axe: the message was given before the change, which has no effect', vim.log.levels.INFO)
    end
  end)
end

local ACTIONS = {
  ['Edit'] = function(run, message)
    vim.ui.input({ prompt = 'Message: ', default = message.text }, function(text)
      if text and vim.trim(text) ~= '' then
        change(run, message, { text = text })
      end
    end)
  end,
  ['Give it now'] = function(run, message)
    change(run, message, { mode = 'now' })
  end,
  ['Give it before the next request'] = function(run, message)
    change(run, message, { mode = 'next' })
  end,
  ['Give it at the end of the run'] = function(run, message)
    change(run, message, { mode = 'after' })
  end,
  ['Remove'] = function(run, message)
    change(run, message, { text = vim.NIL })
  end,
}

local ORDER = { 'Edit', 'Give it now', 'Give it before the next request', 'Give it at the end of the run', 'Remove' }

--- Shows the messages of a run that wait, and changes the one that the user picks.
function M.queue()
  with_run(function(run)
    ask_server(run, 'axe/messages', {}, function(messages)
      if #messages == 0 then
        return vim.notify(('axe: no message to %s waits'):format(words.name(run.begun)), vim.log.levels.INFO)
      end
      local function describe(message)
        return (message.mode == 'next' and '' or '(' .. message.mode .. ') ') .. words.shorten(message.text)
      end
      vim.ui.select(messages, { prompt = 'Which message?', format_item = describe }, function(message)
        if message then
          vim.ui.select(ORDER, { prompt = words.shorten(message.text) }, function(action)
            if action then
              ACTIONS[action](run, message)
            end
          end)
        end
      end)
    end)
  end)
end

return M
