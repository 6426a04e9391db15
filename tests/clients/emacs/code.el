;; An agent edits files that language servers check, and asks them.  -*- lexical-binding: t; -*-

(load (expand-file-name "support" (file-name-directory load-file-name)))

(define-derived-mode rst-like-mode nil "Rst")
(define-derived-mode fundamental-like-mode nil "Fundamental")
(define-derived-mode silent-mode nil "Silent")
(dolist (each '(("\\.rst\\'" . rst-like-mode) ("\\.css\\'" . silent-mode) ("\\.md\\'" . fundamental-like-mode)))
  (push each auto-mode-alist))

(let ((words (list (getenv "AXE_TEST_PYTHON") (getenv "AXE_TEST_LANGUAGE_SERVER"))))
  (setq eglot-server-programs
        (append `((rst-like-mode . ,(append words '("silent" "pull")))
                  (silent-mode . ,(append words '("silent")))
                  (text-mode . ,words)
                  (python-mode . (,(getenv "AXE_TEST_RUFF") "server")))
                eglot-server-programs)))

(play (lambda ()
        (setq-default eglot-workspace-configuration '(:axe (:tools (:allow ["edit_file"]))))
        ;; All in one project.
        (add-hook 'project-find-functions
                  (lambda (_) (cons 'transient (expand-file-name "../../" (file-name-directory (getenv "AGENT"))))))
        (dolist (hook '(text-mode-hook python-mode-hook rst-like-mode-hook silent-mode-hook))
          (add-hook hook #'eglot-ensure))
        (open-agent)
        ;; Many modes have a function there.  It starts no server.
        (add-hook 'fundamental-like-mode-hook
                  (lambda () (add-hook 'post-command-hook #'ignore nil t)))
        (axe-run "Go")
        (wait-for-log "✓ coder: Go")
        (cl-assert (not (cl-find-if (lambda (buffer)
                                      (string-match-p "\\.\\(txt\\|py\\)\\'" (or (buffer-file-name buffer) "")))
                                    (buffer-list)))
                   nil "files that the agent has asked about are closed")))
