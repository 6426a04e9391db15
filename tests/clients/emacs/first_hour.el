;; A new user runs the first agent, and reads what Emacs says.  -*- lexical-binding: t; -*-

(load (expand-file-name "support" (file-name-directory load-file-name)))

(defvar told nil "What the user was told.")

(play
 (lambda ()
   (open-agent)
   (cl-letf (((symbol-function 'message)
              (lambda (form &rest more) (push (if form (apply #'format form more) "") told))))
     (axe-run "Say hello")
     (wait-for "an answer or a message"
               (lambda () (or (string-search "✓ assistant" (runs-text))
                              (cl-find "^axe: " told :test #'string-match-p)))))
   (report (string-join told "\n"))
   (report (runs-text))))
