typedef unsigned long id_t;
typedef id_t handle_t;
typedef void (*callback_t)(int, void *);
typedef const char *added_t;
struct s { id_t id; handle_t handle; callback_t call; added_t old; } s;
