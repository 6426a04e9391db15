;; The settings of a repository in .dir-locals.el allow nothing; those of the user do.  -*- lexical-binding: t; -*-

(load (expand-file-name "support" (file-name-directory load-file-name)))

(defun answer (&rest _)
  "Answer the question that the user has before their eyes."
  (report (with-current-buffer "*axe question*" (buffer-string)))
  (list ?n))

(play (lambda ()
        (setq-default eglot-workspace-configuration '(:axe (:tools (:allow ["write_file"]))))
        (open-agent)
        (cl-assert (plist-get (plist-get (plist-get eglot-workspace-configuration :axe) :tools) :allow) nil
                   "Emacs has taken the settings of the repository")
        (cl-letf (((symbol-function 'read-multiple-choice) #'answer)
                  ((symbol-function 'read-string) (lambda (&rest _) "")))
          (axe-run "")
          (wait-for "a question" (lambda () axe-lsp-approve--waiting))
          (axe-answer)
          (wait-for-log "✓ manager  "))))
