;; A user who has started Emacs anew looks at a run of before, then hands an input and lines to agents.  -*- lexical-binding: t; -*-

(load (expand-file-name "support" (file-name-directory load-file-name)))

(defvar asked nil "What the user was asked, the newest first.")

(defun answer (prompt &optional choices &rest _)
  "Answer PROMPT as the user does, with one of CHOICES if there are any."
  (push prompt asked)
  (cond ((equal prompt "Which run? ")
         (let* ((run (car (all-completions "" choices)))
                (began (encode-time (parse-time-string (substring run 0 16)))))
           (cl-assert (< (abs (float-time (time-since began))) 600) nil "in the local time zone: %s" run)
           run))
        ((equal prompt "Agent: ") "fast🚀")
        ((string-prefix-p "path" prompt) "a.py")
        ((string-prefix-p "lines" prompt) "20")
        ((string-prefix-p "depth" prompt) "low")
        ((string-prefix-p "Task, before" prompt) "Look at this:")
        (t "")))

(defun look-back ()
  (let ((waits '(:began "2026-11-21T10:04:12.000Z" :status "running" :waits t :agent "asker" :runId "3f2a9c1e")))
    (cl-assert (string-search "  waiting  asker" (axe-lsp-runs--label waits)) t))
  (axe-runs)
  (let ((buffer (wait-for "the run" (lambda () (cl-find "^\\*axe run [0-9a-f]+\\*$" (buffer-list)
                                                        :key #'buffer-name :test #'string-match-p)))))
    (wait-for "its end" (lambda () (with-current-buffer buffer (string-search "\n  ! cancelled" (shown)))))
    (with-current-buffer buffer
      (cl-assert (string-match "■ manager  [0-9.]+ s · 1 turn · " (shown)) t)
      (cl-assert (string-search "\n    │ No bugs found.\n" (shown)) t)
      (goto-char (point-min))
      (should-say "This agent is not at work, or not for this Emacs" #'axe-stop))))

(defun should-say (text command)
  "TEXT should be what COMMAND refuses to do its work with."
  (cl-assert (equal (condition-case notice (funcall command) (user-error (cadr notice))) text) t))

(play (lambda ()
        (open-agent)
        (cl-letf (((symbol-function 'completing-read) #'answer)
                  ((symbol-function 'read-string) #'answer))
          (look-back)
          (find-file (expand-file-name "../reader.toml" (getenv "AGENT")))
          (wait-for "the server" #'eglot-managed-p)
          (call-interactively #'axe-run)
          (wait-for-log "✓ reader: {\"depth\":\"low\",\"lines\":20,\"path\":\"a.py\"}")
          (cl-assert (equal (butlast (reverse asked) 0)
                            '("Which run? " "Task (empty: its own instructions, or its input): "
                              "path (A file.): " "depth, may be empty: " "lines, may be empty: ")) t)
          (switch-to-buffer "other")
          (insert "first\nsecond\nthird\n")
          (transient-mark-mode)
          (push-mark (+ (point-min) 6) t t)
          (goto-char (point-max))
          (call-interactively #'axe-run)
          (wait-for-log "✓ fast🚀: Look at this: second third"))))
