;; A user who has not installed the server opens an agent.  -*- lexical-binding: t; -*-

(load (expand-file-name "support" (file-name-directory load-file-name)))

(play (lambda ()
        (find-file (getenv "AGENT"))
        (condition-case notice
            (call-interactively #'eglot)
          (user-error (report (cadr notice))))
        (condition-case notice
            (axe-run "")
          (user-error (report (cadr notice))))))
