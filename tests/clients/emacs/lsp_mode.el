;; A user of lsp-mode mends an agent, runs it, allows a change, stops it, and goes on when the server has died.  -*- lexical-binding: t; -*-

(load (expand-file-name "support" (file-name-directory load-file-name)))
(require 'lsp-mode)

(defun codes ()
  "The codes of the diagnostics of this buffer."
  (let (found)
    (maphash (lambda (file diagnostics)
               (when (equal (file-truename file) (file-truename buffer-file-name))
                 (dolist (each diagnostics)
                   (push (gethash "code" each) found))))
             (lsp-diagnostics))
    (sort found #'string<)))

(defun answer (prompt _choices)
  "Allow what PROMPT is about."
  (report (concat prompt (with-current-buffer "*axe question*" (buffer-string))))
  '(?y))

(setq lsp-auto-guess-root t
      lsp-warn-no-matched-clients nil
      lsp-enable-file-watchers nil
      lsp-restart 'auto-restart ; By default it asks.
      lsp-session-file (expand-file-name "lsp-session" (getenv "HOME")))

(play (lambda ()
        (find-file (getenv "AGENT"))
        (lsp)
        (wait-for "the diagnostics" (lambda () (equal (codes) '("max-depth"))))
        (exchange "max_depth = 6" "max_depth = 5")
        (wait-for "their end" (lambda () (null (codes))))
        (cl-letf (((symbol-function 'read-multiple-choice) #'answer))
          (axe-run "Go")
          (wait-for-log "\n  ✓ fast🚀: Look for bugs" "  ▶ slow: Look at the style  openai/slow\n    · turn 1"))
        (axe-stop)
        (wait-for-log "  ✗ slow: Look at the style  " "✗ manager: Go  " "\n  ! cancelled")
        (axe-preview)
        (wait-for "the preview" (lambda () (get-buffer "*axe preview*")))
        (axe-run "Again")
        (wait-for-log "▶ manager: Again")
        (signal-process (lsp--workspace-cmd-proc (car (lsp-workspaces))) 'SIGKILL)
        (wait-for-log "! killed: the language server has stopped")
        (wait-for "the next server" #'axe-lsp-runs--own-p)
        (axe-run-again)
        (wait-for-log "has stopped\n▶ manager: Again")))
