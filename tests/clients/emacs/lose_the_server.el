;; The server is killed while an agent runs: the run ends, and another server takes over.  -*- lexical-binding: t; -*-

(load (expand-file-name "support" (file-name-directory load-file-name)))

(play (lambda ()
        (setq eglot-autoreconnect t) ; By default only where the server has lived for three seconds.
        (open-agent)
        (axe-run "")
        (wait-for-log "▶ slow: Look at the style  openai/slow\n    · turn 1")
        (with-current-buffer (axe-lsp-runs-buffer)
          (goto-char (point-min))
          (outline-hide-subtree)) ; What is told from now on is folded, too.
        (signal-process (jsonrpc--process (eglot-current-server)) 'SIGKILL)
        (wait-for-log "  ✗ slow: Look at the style  killed\n" "✗ manager  killed\n"
                      "\n  ! killed: the language server has stopped")
        (cl-assert (null axe-lsp-runs--active))
        (wait-for "the next server" #'eglot-managed-p)
        (exchange "max_depth = 5" "max_depth = 6")
        (wait-for-diagnostics "max-depth 6")
        (exchange "max_depth = 6" "max_depth = 5")
        (axe-run-again)
        (wait-for-log "has stopped\n▶ manager" "  │ Ready to")
        (with-current-buffer (axe-lsp-runs-buffer)
          (cl-assert (equal (cl-subseq (visible-lines) 0 3) '("✗ manager" "▶ manager" "  · turn 1")) t))
        (cl-letf (((symbol-function 'completing-read)
                   (lambda (_ choices &rest _) (car (all-completions "" choices)))))
          (axe-resume)
          (wait-for-log "⟳ resumed at turn 2"))))
