;; The server is killed while an agent runs; what the user sees of the run ends with it.  -*- lexical-binding: t; -*-

(load (expand-file-name "support" (file-name-directory load-file-name)))

(play (lambda ()
        (open-agent)
        (axe-run "")
        (wait-for-log "slow · turn 1")
        (setq eglot-autoreconnect nil)
        (signal-process (jsonrpc--process (eglot-current-server)) 'SIGKILL)
        (wait-for-log "slow ✗ killed" "manager ✗ killed: the language server has stopped")
        (cl-assert (null axe-lsp--active))))
