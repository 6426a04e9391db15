;; A file that is opened after the start shows the problems that it had while it was closed.  -*- lexical-binding: t; -*-

(load (expand-file-name "support" (file-name-directory load-file-name)))

(defconst problems '("unknown-agent \"nobody\"" "unknown-key bogus"))

(defvar published nil "The URIs for which the server has published diagnostics.")

(play (lambda ()
        (advice-add 'eglot-handle-notification :before
                    (lambda (_ method &rest params)
                      (when (eq method 'textDocument/publishDiagnostics)
                        (push (plist-get params :uri) published))))
        (open-agent)
        (wait-for "the problems of the closed file"
                  (lambda ()
                    (cl-some (lambda (uri) (string-suffix-p "/faulty.toml" uri)) published)))
        (let ((lead (current-buffer))
              (faulty (expand-file-name "faulty.toml")))
          (dotimes (_ 2)
            (find-file faulty)
            (apply #'wait-for-diagnostics problems)
            (goto-char (point-max))
            (insert "# a comment\n")
            (apply #'wait-for-diagnostics problems)
            (set-buffer-modified-p nil)
            (kill-buffer))
          (switch-to-buffer lead)
          (goto-char (point-min))
          (search-forward "\"faul")
          (xref-find-definitions (xref-backend-identifier-at-point 'eglot))
          (wait-for "the definition" (lambda () (equal (buffer-file-name) faulty)))
          (apply #'wait-for-diagnostics problems))))
