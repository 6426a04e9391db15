-- Commands, and the start of the server for agent files.

local function command(name, action, options)
  vim.api.nvim_create_user_command(name, function(given)
    require('axe_lsp.commands')[action](given)
  end, options)
end

local function completion(action)
  return function(...)
    return require('axe_lsp.commands')[action](...)
  end
end

command('AxeRun', 'run', {
  nargs = '*',
  range = true,
  bang = true,
  complete = completion('complete_run'),
  desc = 'Run an agent with a task; with ! the last one again',
})
command('AxePreview', 'preview', {
  nargs = '*',
  range = true,
  complete = completion('complete_run'),
  desc = 'Show what would be sent to the provider',
})
command('AxeAnswer', 'answer', {
  desc = 'Answer what an agent asks',
})
command('AxeResume', 'resume', {
  desc = 'Go on with a run that ended before it was completed',
})
command('AxeReply', 'reply', {
  nargs = '*',
  desc = 'Send a further message in the conversation of a completed run',
})
command('AxeSend', 'send', {
  nargs = '*',
  bang = true,
  desc = 'Send a message to a run at work; with ! what it does is broken off',
})
command('AxeQueue', 'queue', {
  desc = 'Show the messages to a run that wait: edit, remove, or give one at once',
})
command('AxeFork', 'fork', {
  desc = 'Make a new run that shares the first turns of another one',
})
command('AxeUndo', 'undo', {
  desc = 'Show what a run has changed in files, and put them back',
})
command('AxeChanges', 'changes', {
  desc = 'Show which files a run has changed',
})
command('AxeTest', 'test', {
  nargs = '*',
  bang = true,
  complete = completion('complete_case'),
  desc = 'Run the tests of this file, or one case; with ! their answers are recorded',
})
command('AxeTestNew', 'new_test', {
  desc = 'Make a test of a past run',
})
command('AxeStop', 'stop', {
  nargs = '?',
  bang = true,
  complete = completion('complete_stop'),
  desc = 'Stop a run and everything below it; with ! all of them',
})
command('AxeRuns', 'runs', {
  nargs = '?',
  bang = true,
  complete = completion('complete_agent'),
  desc = 'Show what happened in a past run; with ! in those of this session',
})

local has_configurations = vim.fn.has('nvim-0.11') == 1

vim.api.nvim_create_autocmd('FileType', {
  pattern = { 'toml', 'markdown' },
  callback = function(event)
    local is_agent = require('axe_lsp.files').root(vim.api.nvim_buf_get_name(event.buf)) ~= nil
    local server = is_agent and require('axe_lsp.server')
    if is_agent and has_configurations then
      server.is_there(server.configuration())
    elseif is_agent then
      server.attach(event.buf)
    end
  end,
})

if has_configurations then
  vim.lsp.enable('axe_lsp')
  require('axe_lsp.code.checks').begin() -- what a language server publishes can't be asked for later
end
