/** Where the service runs. The sandbox delivers to virtual phones, and needs no secret. */
export type Environment = 'sandbox' | 'production';
