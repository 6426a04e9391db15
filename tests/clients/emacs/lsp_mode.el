;; A user of lsp-mode mends an agent, runs it, is asked, stops it, and goes on when the server has died.  -*- lexical-binding: t; -*-

(load (expand-file-name "support-lsp-mode" (file-name-directory load-file-name)))

(defun ask-what-a-key-means ()
  (go-behind "max_de")
  (lsp-describe-thing-at-point)
  (with-current-buffer "*lsp-help*"
    (cl-assert (string-search "max_depth" (buffer-string)) t)))

(defun complete-a-key ()
  (go-behind "timeout = 30")
  (insert "\nworkd")
  (completion-at-point)
  (cl-assert (looking-back "^workdir.*" (line-beginning-position)) t)
  (delete-region (line-beginning-position) (1+ (line-end-position))))

(defun create-the-agent-that-is-missing ()
  (go-behind "\"gho")
  (cl-letf (((symbol-function 'completing-read)
             (lambda (_prompt titles &rest _)
               (or (cl-find "Create the agent \"ghost\"" (all-completions "" titles) :test #'equal)
                   (error "It should be among %S" (all-completions "" titles))))))
    (call-interactively #'lsp-execute-code-action))
  (wait-for "the new agent" (lambda () (file-exists-p (expand-file-name "../ghost.toml" (getenv "AGENT")))))
  (switch-to-buffer (find-buffer-visiting (getenv "AGENT"))))

(defun rename-it ()
  (go-behind "\"gho")
  (cl-letf (((symbol-function 'y-or-n-p) #'always)
            ((symbol-function 'yes-or-no-p) #'always))
    (lsp-rename "steady"))
  (wait-for "the new name" (lambda () (string-search "\"steady\"" (buffer-string))))
  (save-some-buffers t)
  (exchange "\"steady\"" "\"slow\""))

(defvar answers (list ?y ?n))

(defun answer (prompt _choices)
  "Answer what PROMPT is about: yes at first, and then no."
  (report (concat prompt (with-current-buffer "*axe question*" (buffer-string))))
  (list (pop answers)))

(defun run-it ()
  (cl-letf (((symbol-function 'read-multiple-choice) #'answer)
            ((symbol-function 'read-string) (lambda (&rest _) "not there"))
            ((symbol-function 'completing-read) (lambda (&rest _) "")))
    (axe-run "Go")
    (dotimes (_ 4) ; two approvals, two questions of the model
      (wait-for "a question" (lambda () axe-lsp-approve--waiting))
      (axe-answer))
    (wait-for-log "\n  ✓ fast🚀: Look for bugs" "    │ No bugs found."
                  "  ▶ slow: Look at the style  openai/slow\n    · turn 1"))
  (cl-assert (null answers))
  (axe-stop)
  (wait-for-log "  ■ slow: Look at the style  " "■ manager: Go  " "\n  ! cancelled"))

(defun choose-the-lens (title)
  "Choose what stands above the name as TITLE, as a click does."
  (lsp--execute-command
   (cl-find title
            (mapcar (lambda (lens) (gethash "command" lens))
                    (lsp-request "textDocument/codeLens"
                                 (list :textDocument (lsp--text-document-identifier))))
            :key (lambda (command) (and command (gethash "title" command))) :test #'equal)))

(play (lambda ()
        (find-file (getenv "AGENT"))
        (lsp-register-custom-settings '(("axe.tools.allow" ["run_command(touch c.txt)"])))
        (lsp)
        (wait-for-codes "max-depth" "negative-timeout" "unknown-agent")
        (exchange "timeout = -30" "timeout = 30")
        (wait-for-codes "max-depth" "unknown-agent")
        (ask-what-a-key-means)
        (complete-a-key)
        (create-the-agent-that-is-missing)
        (wait-for-codes "max-depth")
        (rename-it)
        (exchange "max_depth = 6" "max_depth = 5")
        (wait-for-codes)
        (run-it)
        (choose-the-lens "Preview")
        (wait-for "the preview" (lambda () (get-buffer "*axe preview*")))
        (cl-letf (((symbol-function 'read-string) (lambda (&rest _) "Again")))
          (choose-the-lens "Run"))
        (wait-for-log "▶ manager: Again")
        (signal-process (lsp--workspace-cmd-proc (car (lsp-workspaces))) 'SIGKILL)
        (wait-for-log "! killed: the language server has stopped")
        (wait-for "the next server" #'axe-lsp-runs--own-p)
        (axe-run-again)
        (wait-for-log "has stopped\n▶ manager: Again")))
