-- :checkhealth axe_lsp

local server = require('axe_lsp.server')

local M = {}

local PATIENCE = 10000 -- milliseconds

-- Neovim has renamed both where this is and what it is called.
local report = vim.health or require('health')
local start, ok = report.start or report.report_start, report.ok or report.report_ok
local warn, fail = report.warn or report.report_warn, report.error or report.report_error
local function say(how, text, advice)
  how(text, advice)
end

local function check_neovim()
  local version = vim.version()
  local shown = ('Neovim %d.%d.%d'):format(version.major, version.minor, version.patch)
  if vim.fn.has('nvim-0.11') == 1 then
    say(ok, shown)
  elseif vim.fn.has('nvim-0.7') == 1 then
    say(warn, shown .. ' works, without completion as you type', { '0.11 or later has it' })
  else
    say(fail, shown .. ' is too old', { 'Install 0.11 or later' })
  end
end

local function check_version(program)
  local own = require('axe_lsp').version
  local told = vim.fn.system({ program, 'version' })
  local version = vim.v.shell_error == 0 and told:match('%d+%.%d+%S*')
  if not version then
    say(fail, ('"%s version" says: %s'):format(program, vim.trim(told)), { 'Install axe-lsp again' })
  elseif version:match('^[^+]+') ~= own then -- a build from a clone adds its commit: 0.1.0+g1a2b3c4
    say(warn, ('axe-lsp is %s, this plugin %s'):format(version, own), { 'Install both from the same clone' })
  else
    say(ok, ('axe-lsp %s, as this plugin'):format(version))
  end
end

local function check_answer(config)
  local requests = require('axe_lsp.requests')
  local is_answered = false
  local client = requests.any()
  local id = not client and server.start(require('axe_lsp.files').project(vim.fn.getcwd()), config) or nil
  client = client or id and vim.lsp.get_client_by_id(id)
  local agents
  vim.wait(PATIENCE, function()
    if client and client.initialized ~= false and client.server_capabilities and not is_answered then
      agents = requests.ask(client, 'axe/agents', {})
      is_answered = agents ~= nil
    end
    return is_answered
  end, 50)
  if is_answered then
    say(ok, ('it answers, and knows %d agents'):format(#agents))
  else
    say(fail, 'it does not answer', { 'Look at its log: ' .. vim.lsp.get_log_path() })
  end
  if id then
    vim.lsp.stop_client(id)
  end
end

function M.check()
  start('axe_lsp')
  check_neovim()
  local config = server.configuration()
  local program = server.program(config)
  if program then
    say(ok, 'the server is ' .. program)
    check_version(program)
    check_answer(config)
  elseif type(config.cmd) == 'function' then
    say(ok, 'the server is started by a function')
  else
    say(fail, ('the server "%s" is not on PATH'):format(config.cmd[1]),
      { 'Install it from a clone of axe-lsp: pipx install CLONE, or uv tool install CLONE', 'Or say where it is: cmd, in :help axe-config' })
  end
end

return M
